#!/bin/sh
# Kafka brokers on loopback, for tests: KRaft mode, each broker a controller too.
#   tools/kafka.sh get                bring Kafka's jars by Maven, once, into build/kafka
#   tools/kafka.sh start DIR [1|3]    start new brokers with their files in DIR
#   tools/kafka.sh again DIR N        start broker N of DIR again
#   tools/kafka.sh kill DIR N         end broker N of DIR as a power cut does
#   tools/kafka.sh stop DIR           end all brokers of DIR
# `start` puts HOST:PORT[,HOST:PORT...] into DIR/brokers, and into DIR/secure the
# same for TLS with a password: user urlweir, password "weir", DIR/ca.pem. Who
# begins with an address of DIR/linked is sent to those alone, where nobody
# listens before a test does, and passes on to the address of DIR/behind.
# Without Java or Maven it says so in one line and ends with 77. It installs
# nothing; tools/install-deps.sh kafka does.
set -eu

version=4.1.1
top=$(cd "$(dirname "$0")/.." && pwd)
jars=$top/build/kafka/$version

skip() {
    echo "kafka: skipped, $1"
    exit 77
}

get() {
    command -v java >/dev/null 2>&1 || skip "there is no Java here"
    [ ! -e "$jars/.complete" ] || return 0
    command -v mvn >/dev/null 2>&1 || skip "there is no Maven here"
    mkdir -p "$jars"
    [ -w "${HOME:-/nonexistent}" ] || MAVEN_OPTS="${MAVEN_OPTS:-} -Dmaven.repo.local=$top/build/kafka/m2"
    export MAVEN_OPTS
    cat >"$jars/pom.xml" <<END
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>urlweir</groupId><artifactId>kafka-for-tests</artifactId><version>1</version>
  <dependencies><dependency>
    <groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>$version</version>
  </dependency></dependencies>
</project>
END
    timeout 600 mvn -q -B -f "$jars/pom.xml" dependency:copy-dependencies \
        -DincludeScope=runtime -DoutputDirectory="$jars" >"$jars/mvn.log" 2>&1 ||
        skip "Maven cannot bring it, see $jars/mvn.log"
    touch "$jars/.complete"
}

# Small, and quiet: Kafka's own log stays at errors without a configuration.
java_of() {
    java -Xms64m -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$jars/*" "$@"
}

free_ports() {
    python3 - "$1" <<'END'
import socket, sys
held = [socket.socket() for _ in range(int(sys.argv[1]))]
for s in held:
    s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in held))
END
}

certificate() {
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \
        -addext "subjectAltName=IP:127.0.0.1,DNS:localhost" \
        -keyout "$1/key.pem" -out "$1/ca.pem" 2>/dev/null
    cat "$1/key.pem" "$1/ca.pem" >"$1/server.pem"
}

# configure DIR N COUNT VOTERS PORT SECURE CONTROLLER LINKED BEHIND
configure() {
    mkdir "$1/$2"
    least=$(($3 > 1 ? 2 : 1))
    cat >"$1/$2/server.properties" <<END
process.roles=broker,controller
node.id=$2
controller.quorum.voters=$4
controller.listener.names=CONTROLLER
listeners=PLAIN://127.0.0.1:$5,SECURE://127.0.0.1:$6,CONTROLLER://127.0.0.1:$7,LINKED://127.0.0.1:$9
advertised.listeners=PLAIN://127.0.0.1:$5,SECURE://127.0.0.1:$6,LINKED://127.0.0.1:$8
listener.security.protocol.map=PLAIN:PLAINTEXT,SECURE:SASL_SSL,CONTROLLER:PLAINTEXT,LINKED:PLAINTEXT
inter.broker.listener.name=PLAIN
listener.name.secure.sasl.enabled.mechanisms=PLAIN
listener.name.secure.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_urlweir="weir";
listener.name.secure.ssl.keystore.type=PEM
listener.name.secure.ssl.keystore.location=$1/server.pem
log.dirs=$1/$2/data
num.partitions=4
default.replication.factor=$3
min.insync.replicas=$least
offsets.topic.num.partitions=4
offsets.topic.replication.factor=$3
transaction.state.log.num.partitions=4
transaction.state.log.replication.factor=$3
transaction.state.log.min.isr=$least
share.coordinator.state.topic.replication.factor=$3
share.coordinator.state.topic.min.isr=$least
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
END
    java_of kafka.tools.StorageTool format -t AAAAAAAAAAAAAAAAAAAAAA \
        -c "$1/$2/server.properties" >"$1/$2/format.log" 2>&1
}

# Becomes a daemon, so that whoever called may end before it.
launch() {
    setsid java -Xms64m -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
        -cp "$jars/*" kafka.Kafka "$1/$2/server.properties" \
        >>"$1/$2/log" 2>&1 </dev/null &
    echo $! >"$1/$2/pid"
}

# A broker is up when it answers on its port: `listening` PORT...
wait_for_ports() {
    python3 - "$@" <<'END'
import socket, sys, time
until = time.monotonic() + 120
for port in sys.argv[1:]:
    while True:
        try:
            socket.create_connection(("127.0.0.1", int(port)), 1).close()
            break
        except OSError:
            if time.monotonic() > until:
                sys.exit("kafka: nobody listens on port " + port)
            time.sleep(0.1)
END
}

port_of() {
    cut -d , -f "$2" "$1/brokers" | sed 's/.*://'
}

end_one() {
    pid=$(cat "$1/$2/pid" 2>/dev/null) || return 0
    kill "-$3" "$pid" 2>/dev/null || :
    while kill -0 "$pid" 2>/dev/null && [ "$(ps -o stat= -p "$pid" | cut -c 1)" != Z ]; do
        sleep 0.1
    done
    rm -f "$1/$2/pid"
}

case ${1:-} in
get)
    get
    ;;
start)
    get
    dir=$2 count=${3:-1}
    mkdir -p "$dir"
    dir=$(cd "$dir" && pwd)
    certificate "$dir"
    # shellcheck disable=SC2046
    set -- $(free_ports $((count * 5)))
    voters="" brokers="" secure="" linked="" behind="" ports="" i=1
    for p in "$@"; do
        case $(((i - 1) / count)) in
        0) brokers="$brokers,127.0.0.1:$p" ports="$ports $p" ;;
        1) secure="$secure,127.0.0.1:$p" ;;
        2) voters="$voters,$((i - 2 * count))@127.0.0.1:$p" ;;
        3) linked="$linked,127.0.0.1:$p" ;;
        4) behind="$behind,127.0.0.1:$p" ;;
        esac
        i=$((i + 1))
    done
    echo "${brokers#,}" >"$dir/brokers"
    echo "${secure#,}" >"$dir/secure"
    echo "${linked#,}" >"$dir/linked"
    echo "${behind#,}" >"$dir/behind"
    n=1
    while [ $n -le "$count" ]; do
        eval "configure '$dir' $n $count '${voters#,}' \${$n} \${$((count + n))} \${$((2 * count + n))} \${$((3 * count + n))} \${$((4 * count + n))}"
        launch "$dir" $n
        n=$((n + 1))
    done
    # shellcheck disable=SC2086
    wait_for_ports $ports
    ;;
again)
    launch "$2" "$3"
    wait_for_ports "$(port_of "$2" "$3")"
    ;;
kill)
    end_one "$2" "$3" KILL
    ;;
stop)
    for one in "$2"/[0-9]*; do
        end_one "$2" "$(basename "$one")" KILL
    done
    ;;
*)
    sed -n '2,12s/^# //p' "$0" >&2
    exit 2
    ;;
esac
