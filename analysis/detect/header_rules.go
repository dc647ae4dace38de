package detect

import "github.com/rocescope/rocescope/analysis/report"

// headerRules are the pages of what Header finds.
var headerRules = []report.Rule{
	{
		Name: "header.mismatch", Severities: []report.Severity{report.Notice, report.Info},
		Brief: "two ends fill in constant header bits differently: P_Key, TVer, MigReq",
		Means: "Transport version and partition key of the BTH should be the same both ways. A receiver that checks them drops what does not fit without a NAK, which looks like a peer that is dead. " +
			"MigReq, the bit of path migration, differs between makes of adapters and harms nobody as a rule.",
		Computed: "For each queue pair and direction, fields that have one value in every packet, against those of the way back. Rows whose way back is not known are compared between their two hosts, where all of one transport have one value each way. " +
			"CNPs, management queue pairs, copies and packets with a bad ICRC are left out. The count is of queue pairs, for the difference that most of them have.\n\n" +
			"It is a notice if P_Key or TVer differ, or if requests between the two hosts are repeated and no response of either is in view; info if MigReq alone differs.",
		Not: "Not damage, which would not be the same in each packet. A field that changes within a direction, as MigReq does when a queue pair moves to another path, is not compared. That requests go unanswered may have other causes: the difference is just the one that shows.",
		Do: "P_Key: compare `/sys/class/infiniband/DEV/ports/1/pkeys/*` of both ends and the pkey_index of the queue pair; hosts of RoCE use 0xffff, the full member of the default partition, as a rule. Two keys that differ in the top bit alone are a full and a limited member, which may talk; two limited ones may not. " +
			"TVer is 0 in every release of the specification, so look at the driver of the end that writes another one. MigReq: compare firmware and driver, where the two do not talk.",
	},
}
