# What the script of a scenario is made of.
#
# Host i is the device hI, address 10.0.0.I and fd00::I, RDMA device rxeI. All
# hosts live in the first network namespace, because Soft-RoCE works only there;
# rules keep their packets from taking the short way over lo. Port sI of the
# network leads to host i. Where every other port lives is kept in place.
exec 2>errors # the truth notes whatever complains
declare -A place
work=/tmp/work
results=$PWD
mkdir -p $work

# note writes down a command for the truth and runs it.
note() {
	echo "$*" >>$work/commands
	"$@"
}

# at PORT COMMAND... runs a command in the namespace of a port.
at() {
	local ns=${place[$1]}
	shift
	if [ -n "$ns" ]; then ip netns exec "$ns" "$@"; else "$@"; fi
}

# change is at, written down.
change() {
	echo "at $*" >>$work/commands
	at "$@"
}

namespace() {
	ip netns add "$1"
	ip netns exec "$1" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1 \
		net.ipv4.ip_forward=1 net.ipv4.fib_multipath_hash_policy=1 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0
	ip -n "$1" link set lo up
}

mac() { printf '02:00:00:00:%02x:%02x' "$1" "$2"; }

# start MTU loads the kernel's modules and lets host to host packets leave.
start() {
	mtu=$1
	modprobe -a ib_uverbs rdma_ucm rdma_rxe 8021q bridge sch_netem sch_tbf sch_red cls_matchall cls_u32 act_gact act_mirred dummy vxlan ip_gre
	ip link set lo up
	sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0 net.ipv4.conf.all.accept_local=1 \
		net.ipv4.conf.default.accept_local=1 net.ipv4.conf.all.arp_ignore=1 net.ipv6.conf.all.accept_dad=0 \
		net.ipv6.conf.default.accept_dad=0 net.ipv6.conf.default.router_solicitations=0
	for family in -4 -6; do
		ip $family rule add pref 200 lookup local
		ip $family rule del pref 0
	done
}

# host I NAMESPACE joins host I to its port in a namespace.
host() {
	local i=$1
	ip link add "h$i" mtu "$mtu" address "$(mac 0 "$i")" type veth peer name "s$i" netns "$2" mtu "$mtu" address "$(mac 1 "$i")"
	place[s$i]=$2
	at "s$i" ip link set "s$i" up
	ip link set "h$i" txqueuelen 10000 up
	address "$i" "h$i" 10.0.0 fd00 "10$i"
}

# address I DEVICE NET4 NET6 TABLE gives a device of host I its addresses, and
# what it sends a table of routes of its own.
address() {
	ip addr add "$3.$1/24" dev "$2" noprefixroute
	ip addr add "$4::$1/64" dev "$2" noprefixroute nodad
	ip route add "$3.0/24" dev "$2" src "$3.$1" table "$5"
	ip -6 route add "$4::/64" dev "$2" table "$5"
	ip rule add pref "$5" oif "$2" lookup "$5"
	ip -6 rule add pref "$5" oif "$2" lookup "$5"
}

# neighbor DEVICE NET4 NET6 J MAC
neighbor() {
	ip neigh replace "$2.$4" lladdr "$5" dev "$1" nud permanent
	ip neigh replace "$3::$4" lladdr "$5" dev "$1" nud permanent
}

# bridged N joins N hosts by one switch.
bridged() {
	hosts=$1
	namespace switch
	ip -n switch link add br0 type bridge mcast_snooping 0 stp_state 0
	ip -n switch link set br0 mtu "$mtu" up
	for i in $(seq "$hosts"); do
		host "$i" switch
		at "s$i" ip link set "s$i" master br0
	done
	each_other h 10.0.0 fd00
}

# each_other PREFIX NET4 NET6 [SUFFIX] tells every host the others' MAC.
each_other() {
	for i in $(seq "$hosts"); do
		for j in $(seq "$hosts"); do
			[ "$i" = "$j" ] || neighbor "$1$i$4" "$2" "$3" "$j" "$(mac 0 "$j")"
		done
	done
}

# tagged ID gives every host a tagged device beside the plain one.
tagged() {
	for i in $(seq "$hosts"); do
		ip link add link "h$i" name "h$i.$1" type vlan id "$1" egress-qos-map 0:3
		ip link set "h$i.$1" up
		address "$i" "h$i.$1" 10.0.100 fd64 "11$i"
	done
	each_other h 10.0.100 fd64 ".$1"
}

# leafspine joins four hosts by two leaves and two spines, which are routers.
# Between leaves a packet's flow chooses the spine by the hash of its five-tuple.
leafspine() {
	hosts=4
	for router in leaf1 leaf2 spine1 spine2; do namespace $router; done
	for leaf in 1 2; do
		for spine in 1 2; do uplink $leaf $spine; done
	done
	for i in 1 2 3 4; do host $i "leaf$(((i + 1) / 2))"; done
	for i in 1 2 3 4; do leaf_host $i; done
}

# uplink LEAF SPINE joins the two: port lLsS at the leaf, pSlL at the spine.
uplink() {
	local up=l$1s$2 down=p$2l$1 net=10.$1.$2
	ip -n "leaf$1" link add "$up" mtu "$mtu" type veth peer name "$down" netns "spine$2" mtu "$mtu"
	place[$up]=leaf$1
	place[$down]=spine$2
	at "$up" ip link set "$up" up
	at "$down" ip link set "$down" up
	at "$up" ip addr add "$net.1/30" dev "$up"
	at "$down" ip addr add "$net.2/30" dev "$down"
}

# leaf_host I lets everyone find host I: it sends to its leaf whatever it sends.
leaf_host() {
	local i=$1 leaf=$((($1 + 1) / 2))
	local other=$((3 - leaf))
	for j in 1 2 3 4; do [ "$i" = $j ] || neighbor "h$i" 10.0.0 fd00 $j "$(mac 1 "$i")"; done
	at "s$i" ip route add "10.0.0.$i/32" dev "s$i"
	at "s$i" ip neigh replace "10.0.0.$i" lladdr "$(mac 0 "$i")" dev "s$i" nud permanent
	for spine in 1 2; do ip -n spine$spine route add "10.0.0.$i/32" via "10.$leaf.$spine.1"; done
	ip -n "leaf$other" route add "10.0.0.$i/32" nexthop via "10.$other.1.2" nexthop via "10.$other.2.2"
}

# devices makes the RDMA devices.
devices() {
	for i in $(seq "$hosts"); do note rdma link add "rxe$i" type rxe netdev "h$i"; done
	sleep 0.5
}

# gid I PART prints the index of the address that has a part, as "ffff:0a00:00",
# among those of a device.
gid() {
	grep -l "$2" /sys/class/infiniband/rxe"$1"/ports/1/gids/* 2>/dev/null | head -1 | xargs basename
}

# mirror_port KIND makes the port that mirrored packets leave by: "plain", or a
# tunnel to a collector, "vxlan" or "erspan". The tap is then at the collector.
mirror_port() {
	local ns=${place[s1]}
	place[mirror]=$ns
	place[collector]=collector
	[ "$1" = plain ] || collector
	case $1 in
	plain) at mirror ip link add mirror type dummy ;;
	vxlan) at mirror ip link add mirror type vxlan id 42 local 192.168.9.1 remote 192.168.9.2 dstport 4789 ;;
	erspan) at mirror ip link add mirror type erspan seq key 100 local 192.168.9.1 remote 192.168.9.2 erspan_ver 1 erspan 123 ;;
	esac
	at mirror ip link set mirror mtu "$mtu" up
}

# collector makes one that only listens: without an address it answers nothing.
collector() {
	namespace collector
	ip -n "${place[s1]}" link add uplink mtu $((mtu + 200)) address "$(mac 2 1)" type veth \
		peer name collector netns collector mtu $((mtu + 200)) address "$(mac 2 2)"
	at s1 ip addr add 192.168.9.1/24 dev uplink
	at s1 ip link set uplink up
	at s1 ip neigh replace 192.168.9.2 lladdr "$(mac 2 2)" dev uplink nud permanent
	at collector ip link set collector up
}

# hook PORT:ingress or PORT:egress makes filters possible there.
hooked=()
hook() {
	local port=${1%:*}
	hooked+=("$1")
	at "$port" tc qdisc show dev "$port" | grep -q clsact || change "$port" tc qdisc add dev "$port" clsact
}

# tap POINT SNAPLEN PRECISION FILTER... records a port, or a host's device.
taps=
tap() {
	local point=$1 snap=$2 precision=$3 log=$results/$1.tcpdump in=
	[ -z "${place[$point]}" ] || in="ip netns exec ${place[$point]}"
	shift 3
	$in tcpdump -n -i "$point" -s "$snap" -B 16384 --time-stamp-precision="$precision" -w "$work/$point.pcap" "$@" 2>"$log" &
	taps="$taps $!"
	for _ in $(seq 50); do
		grep -q listening "$log" && break
		sleep 0.1
	done
}

counters() {
	(cd /sys/class/infiniband && grep -H . rxe*/ports/1/hw_counters/*) | grep -v lifespan | sed 's#/ports/1/hw_counters/# #; s#:# #'
}

# statistics asks tc what it did, in every namespace.
statistics() {
	tc -s -j qdisc show >"$results/hosts.qdisc"
	for ns in $(ip netns list | cut -d' ' -f1); do tc -n "$ns" -s -j qdisc show >"$results/$ns.qdisc"; done
	for hook in "${hooked[@]}"; do
		at "${hook%:*}" tc -s -j filter show dev "${hook%:*}" "${hook#*:}" >"$results/$hook.filter"
	done
}

begin() { counters >"$results/counters.before"; }

# finish ends the recording and hands everything out.
finish() {
	wait_all
	sleep 0.7
	statistics
	sleep 0.3
	kill $taps
	for p in $taps $outlasting; do wait "$p"; done
	counters >"$results/counters.after"
	uname -r >"$results/kernel"
	dpkg-query -W -f '${Package} ${Version}\n' rdma-core ibverbs-providers perftest iproute2 tcpdump >"$results/packages"
	cp $work/* "$results/"
	: >"$results/done"
}

# Programs. Each writes what it has to say into a file of its own.
runs=0
running=
wait_all() { for p in $running; do wait "$p"; done; running=; }

# alongside FUNCTION... lets a program run while what follows does.
alongside() {
	runs=$((runs + 1))
	"$@" &
	running="$running $!"
}

# around FUNCTION... lets a program run on behind the end of the recording.
outlasting=
around() {
	alongside "$@"
	outlasting=$running
	running=
	sleep 0.5 # until it is at work
}

# program FUNCTION... runs one to its end.
program() {
	runs=$((runs + 1))
	"$@"
}

verbs() { note timeout 60 /share/traffic "$@" >"$work/out.$runs.verbs" 2>&1; }

# perftest TOOL SERVER CLIENT ARGUMENTS... lets the two hosts exchange what they
# must over lo, so that only RoCE is on the wire.
perftest() {
	local tool=$1 server=$2 client=$3 port=$((20000 + runs))
	shift 3
	note timeout 60 "$tool" -d "rxe$server" -x 1 -F -p $port "$@" >"$work/out.$runs.server" 2>&1 &
	sleep 1
	note timeout 60 "$tool" -d "rxe$client" -x 1 -F -p $port "$@" 127.0.0.1 >"$work/out.$runs.client" 2>&1
	wait $!
}

# perftest_cm is perftest with connections by CM, which routes by address alone.
perftest_cm() {
	local tool=$1 server=$2 client=$3 port=$((20000 + runs))
	shift 3
	ip route add "10.0.0.$server/32" dev "h$client" src "10.0.0.$client" table 205
	ip rule add pref 50 iif lo to "10.0.0.$server" lookup 205
	note timeout 60 "$tool" -R -F -p $port "$@" >"$work/out.$runs.server" 2>&1 &
	sleep 2
	note timeout 60 "$tool" -R -F -p $port "$@" "10.0.0.$server" >"$work/out.$runs.client" 2>&1
	wait $!
	ip rule del pref 50
}

# ping_rdma CLIENT-ADDRESS SERVER-ADDRESS COUNT
ping_rdma() {
	note timeout 20 rping -s -a "$2" -C "$3" -v >"$work/out.$runs.server" 2>&1 &
	sleep 1
	note timeout 20 rping -c -a "$2" -I "$1" -C "$3" -v >"$work/out.$runs.client" 2>&1
	wait $!
}

# nvme CLIENT SERVER SIZE COUNT exports a RAM disk, connects to it, writes and
# reads it, and disconnects.
nvme() {
	local out=$work/out.$runs.nvme
	nvme_target "$2"
	local how="transport=rdma,traddr=10.0.0.$2,trsvcid=4420,host_traddr=10.0.0.$1,nqn=lab,nr_io_queues=2,hostnqn=nqn.2014-08.org.nvmexpress:uuid:11111111-2222-3333-4444-555555555555,hostid=11111111-2222-3333-4444-555555555555"
	echo "echo '$how' >/dev/nvme-fabrics" >>$work/commands
	{ echo "$how" >&3 && cat <&3; } 3<>/dev/nvme-fabrics >"$out" 2>&1
	for _ in $(seq 50); do [ -b /dev/nvme0n1 ] && break; sleep 0.1; done
	note dd if=/dev/urandom of=/dev/nvme0n1 bs="$3" count="$4" oflag=direct >>"$out" 2>&1
	note dd if=/dev/nvme0n1 of=/dev/null bs="$3" count="$4" iflag=direct >>"$out" 2>&1
	echo 1 >/sys/class/nvme/nvme0/delete_controller
	sleep 1
}

nvme_target() {
	modprobe -a nvmet-rdma nvme-rdma
	modprobe brd rd_nr=1 rd_size=65536
	mount -t configfs none /sys/kernel/config 2>/dev/null
	local d=/sys/kernel/config/nvmet
	mkdir -p $d/subsystems/lab/namespaces/1 $d/ports/1
	echo 1 >$d/subsystems/lab/attr_allow_any_host
	echo -n /dev/ram0 >$d/subsystems/lab/namespaces/1/device_path
	echo 1 >$d/subsystems/lab/namespaces/1/enable
	echo -n "10.0.0.$1" >$d/ports/1/addr_traddr
	echo -n rdma >$d/ports/1/addr_trtype
	echo -n 4420 >$d/ports/1/addr_trsvcid
	echo -n ipv4 >$d/ports/1/addr_adrfam
	ln -s $d/subsystems/lab $d/ports/1/subsystems/lab
}
