// traffic TYPE DEVICE-A DEVICE-B [OPTION=VALUE...] OPERATION...
//
// Connects queue pairs of two RDMA devices of one machine and lets them work.
// One process plays both hosts, so nothing but RoCE passes between them: what
// the queue pairs must know of each other is at hand. TYPE is rc, uc or ud.
//
// An operation is NAME or NAME:NUMBER, mostly a length in bytes; "back:" before
// it lets B post instead of A. Each is posted on every queue pair in turn, and
// the whole list is repeated. Prints a line of JSON for each pair of queue pairs,
// for each completion that failed, and a sum at the end.
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum { A, B, PAIRS = 64, MEMORY = 1 << 20, QKEY = 0x11111111, FULL = 15 };

// The options, each with what it is unless given.
static struct option { const char *name; long value; } options[] = {
	{"gid", 1}, {"mtu", 1024}, {"qps", 1}, {"depth", 1}, {"repeat", 1},
	{"psn", -1}, {"back-psn", -1}, {"timeout", 14}, {"retry", 7}, {"rnr", 7},
	{"rnr-timer", 12}, {"reads", 4}, {"tclass", 0}, {"flow", 0},
	{"gap", 0},           // microseconds between two posts
	{"receives", 0},      // posted at first; 0: as many as needed, refilled
	{"receive-size", 65536},
	{"access", FULL},     // what the queue pairs of B permit, as ibv_access_flags
	{"unconnected", 0},   // 1: B's queue pairs stay deaf
	{"patience", 8000},   // milliseconds to wait for completions
	{0},
};

static long opt(const char *name) {
	for (struct option *o = options; o->name; o++)
		if (!strcmp(o->name, name)) return o->value;
	abort();
}

static int set_option(const char *text) {
	for (struct option *o = options; o->name; o++) {
		size_t n = strlen(o->name);
		if (!strncmp(o->name, text, n) && text[n] == '=') {
			o->value = strtol(text + n + 1, 0, 0);
			return 1;
		}
	}
	return 0;
}

static struct host {
	const char *device;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *sent, *received;
	struct ibv_mr *memory, *closed; // closed: registered, but not for others
	union ibv_gid gid;
	char *bytes;
	struct ibv_qp *qp[PAIRS];
	uint32_t psn[PAIRS];
	long posted, done, failed, arrived;
} hosts[2];

static enum ibv_qp_type type;
static struct ibv_ah *address; // of B, for UD

static void die(const char *what) {
	perror(what);
	exit(1);
}

static void check(int ok, const char *what) {
	if (!ok) die(what);
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void open_host(struct host *h) {
	int n;
	struct ibv_device **all = ibv_get_device_list(&n);
	for (int i = 0; i < n; i++)
		if (!strcmp(ibv_get_device_name(all[i]), h->device)) h->context = ibv_open_device(all[i]);
	check(h->context != 0, h->device);
	h->pd = ibv_alloc_pd(h->context);
	h->sent = ibv_create_cq(h->context, 4096, 0, 0, 0);
	h->received = ibv_create_cq(h->context, 4096, 0, 0, 0);
	check(!posix_memalign((void **)&h->bytes, 4096, MEMORY), "memory");
	for (int i = 0; i < MEMORY; i++) h->bytes[i] = i;
	h->memory = ibv_reg_mr(h->pd, h->bytes, MEMORY, FULL);
	h->closed = ibv_reg_mr(h->pd, h->bytes, MEMORY, IBV_ACCESS_LOCAL_WRITE);
	check(h->memory && h->closed, "registering memory");
	check(!ibv_query_gid(h->context, 1, opt("gid"), &h->gid), "gid");
}

static struct ibv_qp *new_pair(struct host *h) {
	struct ibv_qp_init_attr a = {
		.send_cq = h->sent, .recv_cq = h->received, .qp_type = type, .sq_sig_all = 1,
		.cap = {.max_send_wr = 512, .max_recv_wr = 512, .max_send_sge = 1, .max_recv_sge = 1},
	};
	struct ibv_qp *qp = ibv_create_qp(h->pd, &a);
	check(qp != 0, "queue pair");
	return qp;
}

static uint32_t first_psn(const char *option, int i) {
	uint32_t p = opt(option) + i * 0x1000;
	if (opt(option) < 0 && getrandom(&p, sizeof p, 0) < 0) die("random");
	return p & 0xffffff;
}

static void initialize(struct host *h, int i) {
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};
	a.qp_access_flags = h == &hosts[B] ? opt("access") : FULL;
	int last = type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
	check(!ibv_modify_qp(h->qp[i], &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | last), "to INIT");
}

static struct ibv_ah_attr way_to(union ibv_gid gid) {
	struct ibv_ah_attr a = {.is_global = 1, .port_num = 1};
	a.grh = (struct ibv_global_route){.dgid = gid, .sgid_index = opt("gid"), .hop_limit = 64,
		.traffic_class = opt("tclass"), .flow_label = opt("flow")};
	return a;
}

static enum ibv_mtu mtu_code(long bytes) {
	enum ibv_mtu code = IBV_MTU_256;
	while (bytes > 256) bytes /= 2, code++;
	return code;
}

static void ready_to_receive(struct host *h, struct host *peer, int i) {
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTR, .path_mtu = mtu_code(opt("mtu")),
		.dest_qp_num = peer->qp[i]->qp_num, .rq_psn = peer->psn[i], .ah_attr = way_to(peer->gid),
		.max_dest_rd_atomic = opt("reads"), .min_rnr_timer = opt("rnr-timer")};
	int mask = IBV_QP_STATE;
	if (type != IBV_QPT_UD) mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (type == IBV_QPT_RC) mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	check(!ibv_modify_qp(h->qp[i], &a, mask), "to RTR");
}

static void ready_to_send(struct host *h, int i) {
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTS, .sq_psn = h->psn[i], .timeout = opt("timeout"),
		.retry_cnt = opt("retry"), .rnr_retry = opt("rnr"), .max_rd_atomic = opt("reads")};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
	if (type == IBV_QPT_RC) mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	check(!ibv_modify_qp(h->qp[i], &a, mask), "to RTS");
}

static void receive(struct host *h, int i, int times) {
	struct ibv_sge piece = {(uintptr_t)h->bytes + MEMORY / 2, opt("receive-size"), h->memory->lkey};
	struct ibv_recv_wr w = {.wr_id = i, .sg_list = &piece, .num_sge = 1}, *bad;
	while (times-- > 0) check(!ibv_post_recv(h->qp[i], &w, &bad), "posting a receive");
}

// Numbers of queue pairs start anew on every device. Some unused ones on A make
// the two ends of a connection differ, as they do elsewhere.
static void shift_numbers(struct ibv_qp **unused, int n) {
	for (int i = 0; i < n; i++) unused[i] = new_pair(&hosts[A]);
}

static void print_pair(int i) {
	char gid[2][INET6_ADDRSTRLEN];
	for (int s = A; s <= B; s++) inet_ntop(AF_INET6, &hosts[s].gid, gid[s], sizeof gid[s]);
	printf("{\"pair\":{\"a\":{\"device\":\"%s\",\"gid\":\"%s\",\"qpn\":%u,\"psn\":%u},"
		"\"b\":{\"device\":\"%s\",\"gid\":\"%s\",\"qpn\":%u,\"psn\":%u}}}\n",
		hosts[A].device, gid[A], hosts[A].qp[i]->qp_num, hosts[A].psn[i],
		hosts[B].device, gid[B], hosts[B].qp[i]->qp_num, hosts[B].psn[i]);
}

static void connect_pair(int i) {
	for (int s = A; s <= B; s++) {
		hosts[s].qp[i] = new_pair(&hosts[s]);
		hosts[s].psn[i] = first_psn(s == A ? "psn" : "back-psn", i);
		initialize(&hosts[s], i);
	}
	for (int s = A; s <= B; s++) {
		if (s == B && opt("unconnected")) break;
		ready_to_receive(&hosts[s], &hosts[!s], i);
		ready_to_send(&hosts[s], i);
		receive(&hosts[s], i, opt("receives") ? opt("receives") : 64);
	}
	print_pair(i);
}

static int pair_of(struct host *h, uint32_t qpn) {
	for (int i = 0; i < opt("qps"); i++)
		if (h->qp[i] && h->qp[i]->qp_num == qpn) return i;
	return -1;
}

static void take_received(struct host *h) {
	struct ibv_wc c;
	while (ibv_poll_cq(h->received, 1, &c) > 0) {
		if (c.status) continue; // flushed when the queue pair failed
		h->arrived++;
		int i = pair_of(h, c.qp_num);
		if (i >= 0 && !opt("receives")) receive(h, i, 1);
	}
}

static void take_sent(struct host *h) {
	struct ibv_wc c;
	while (ibv_poll_cq(h->sent, 1, &c) > 0) {
		h->done++;
		if (!c.status) continue;
		h->failed++;
		printf("{\"failed\":{\"device\":\"%s\",\"qpn\":%u,\"status\":\"%s\"}}\n", h->device, c.qp_num, ibv_wc_status_str(c.status));
	}
}

// settle waits until at most some posted operations of either side are open.
static void settle(long open) {
	for (double end = now() + opt("patience") / 1e3; now() < end; usleep(50)) {
		for (int s = A; s <= B; s++) take_received(&hosts[s]), take_sent(&hosts[s]);
		if (hosts[A].posted - hosts[A].done <= open && hosts[B].posted - hosts[B].done <= open) return;
	}
	printf("{\"open\":%ld}\n", hosts[A].posted - hosts[A].done + hosts[B].posted - hosts[B].done);
}

// How an operation departs from the plain one.
enum { PLAIN, SOLICITED, WRONG_KEY, OUTSIDE, CLOSED };

static const struct operation { const char *name; enum ibv_wr_opcode code; int twist; } operations[] = {
	{"write", IBV_WR_RDMA_WRITE, PLAIN},
	{"write-imm", IBV_WR_RDMA_WRITE_WITH_IMM, PLAIN},
	{"read", IBV_WR_RDMA_READ, PLAIN},
	{"send", IBV_WR_SEND, PLAIN},
	{"send-imm", IBV_WR_SEND_WITH_IMM, PLAIN},
	{"send-solicited", IBV_WR_SEND, SOLICITED},
	{"add", IBV_WR_ATOMIC_FETCH_AND_ADD, PLAIN},
	{"swap", IBV_WR_ATOMIC_CMP_AND_SWP, PLAIN},
	{"write-wrong-key", IBV_WR_RDMA_WRITE, WRONG_KEY},
	{"read-wrong-key", IBV_WR_RDMA_READ, WRONG_KEY},
	{"write-outside", IBV_WR_RDMA_WRITE, OUTSIDE},
	{"write-closed", IBV_WR_RDMA_WRITE, CLOSED},
	{0},
};

static void aim(struct ibv_send_wr *w, const struct operation *o, struct host *to, int i) {
	uint64_t where = (uintptr_t)to->bytes + (o->twist == OUTSIDE ? MEMORY - 16 : 0);
	uint32_t key = o->twist == CLOSED ? to->closed->rkey : to->memory->rkey ^ (o->twist == WRONG_KEY ? 0x5500 : 0);
	if (type == IBV_QPT_UD) {
		w->wr.ud.ah = address, w->wr.ud.remote_qpn = to->qp[i]->qp_num, w->wr.ud.remote_qkey = QKEY;
	} else if (o->code == IBV_WR_ATOMIC_FETCH_AND_ADD || o->code == IBV_WR_ATOMIC_CMP_AND_SWP) {
		w->wr.atomic.remote_addr = where, w->wr.atomic.rkey = key;
		w->wr.atomic.compare_add = 1, w->wr.atomic.swap = 2;
	} else {
		w->wr.rdma.remote_addr = where, w->wr.rdma.rkey = key;
	}
}

static void post(const struct operation *o, struct host *h, struct host *peer, int i, long bytes) {
	struct ibv_sge piece = {(uintptr_t)h->bytes, bytes, h->memory->lkey};
	struct ibv_send_wr w = {.sg_list = &piece, .num_sge = bytes > 0, .opcode = o->code, .imm_data = htonl(h->posted)}, *bad;
	if (o->code == IBV_WR_ATOMIC_FETCH_AND_ADD || o->code == IBV_WR_ATOMIC_CMP_AND_SWP) piece.length = 8, w.num_sge = 1;
	if (o->twist == SOLICITED) w.send_flags = IBV_SEND_SOLICITED;
	aim(&w, o, peer, i);
	check(!ibv_post_send(h->qp[i], &w, &bad), "posting");
	h->posted++;
	settle(opt("depth") - 1);
	usleep(opt("gap"));
}

static void to_error(struct ibv_qp *qp) {
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_ERR};
	check(!ibv_modify_qp(qp, &a, IBV_QP_STATE), "to ERROR");
}

// special does what is no operation of a queue pair; false where there is none
// of the name.
static int special(const char *name, struct host *peer, long number) {
	if (!strcmp(name, "pause")) return settle(0), usleep(number * 1000), 1;
	for (int i = 0; i < opt("qps"); i++) {
		if (!strcmp(name, "receive")) receive(peer, i, number);
		else if (!strcmp(name, "break")) to_error(peer->qp[i]);
		else if (!strcmp(name, "destroy")) check(!ibv_destroy_qp(peer->qp[i]), "destroy"), peer->qp[i] = 0;
		else return 0;
	}
	return 1;
}

static void perform(const char *text) {
	char name[32] = "";
	long number = 1;
	int back = !strncmp(text, "back:", 5);
	sscanf(text + 5 * back, "%31[^:]:%ld", name, &number);
	if (special(name, &hosts[!back], number)) return;
	const struct operation *o = operations;
	while (o->name && strcmp(o->name, name)) o++;
	check(o->name != 0, text);
	for (int i = 0; i < opt("qps"); i++) post(o, &hosts[back], &hosts[!back], i, number);
}

int main(int argc, char **argv) {
	check(argc > 4, "usage: traffic TYPE A B [OPTION=VALUE...] OPERATION...");
	type = !strcmp(argv[1], "rc") ? IBV_QPT_RC : !strcmp(argv[1], "uc") ? IBV_QPT_UC : IBV_QPT_UD;
	int first = 4;
	while (first < argc && set_option(argv[first])) first++;
	setvbuf(stdout, 0, _IOLBF, 0);
	for (int s = A; s <= B; s++) hosts[s].device = argv[2 + s], open_host(&hosts[s]);
	struct ibv_qp *unused[7];
	shift_numbers(unused, 7);
	for (int i = 0; i < opt("qps"); i++) connect_pair(i);
	for (int i = 0; i < 7; i++) ibv_destroy_qp(unused[i]);
	struct ibv_ah_attr way = way_to(hosts[B].gid);
	if (type == IBV_QPT_UD) check((address = ibv_create_ah(hosts[A].pd, &way)) != 0, "address");
	usleep(200000);
	for (long r = 0; r < opt("repeat"); r++)
		for (int k = first; k < argc; k++) perform(argv[k]);
	settle(0);
	usleep(100000);
	settle(0);
	for (int s = A; s <= B; s++)
		printf("{\"sum\":{\"device\":\"%s\",\"posted\":%ld,\"failed\":%ld,\"received\":%ld}}\n", hosts[s].device, hosts[s].posted, hosts[s].failed, hosts[s].arrived);
	return 0;
}
