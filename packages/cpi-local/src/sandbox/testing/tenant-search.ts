import { systemRandom } from "@slipway/kernel/random";

/** Every value of the first team holds this. */
export const CANARY = `canary-of-a-${systemRandom.hex(6)}`;
/** Matches the canary, and not the text of a search for it. */
export const PATTERN = `[${CANARY.slice(0, 1)}]${CANARY.slice(1)}`;

/** Plants the canary in everything that a process of a sandbox can leave behind or keep running. */
export const PLANT = `
for at in /var/vcap/store /var/vcap/sys/log/app /tmp /var/tmp /run /dev/shm; do
  mkdir -p "$at" && echo ${CANARY} > "$at/${CANARY}-file"
done
ENV_OF_A=${CANARY}-environment setsid sh -c 'sleep 9000; : ${CANARY}-argument' > /dev/null 2>&1 < /dev/null &
setsid "$NODE" -e '
  const net = require("node:net");
  for (const path of ["/var/vcap/${CANARY}-socket", "\\0${CANARY}-abstract"])
    net.createServer((socket) => socket.end("${CANARY}-answer")).listen(path);
  const tcp = net.createServer((socket) => socket.end("${CANARY}-answer"));
  tcp.listen(0, "127.0.0.1", () => require("node:fs").writeFileSync("/var/vcap/port", String(tcp.address().port)));
' > /dev/null 2>&1 < /dev/null &
perl -e '$id = shmget(0x51a, 4096, 01666); shmwrite($id, "${CANARY}-memory", 0, 64); defined $id or die'
`;

const reads = (program: string) => `"$NODE" -e '${program}' | grep -o '${PATTERN}-answer'`;
const answers = (to: string) =>
  reads(
    `require("node:net").connect(${to}).on("error", () => process.exit(1)).on("data", (data) => console.log(String(data)))`,
  );

/** The host's Node, which all sandboxes see and none can write to. */
const PROGRAMS = "--exclude=node";

/** Places to look for the canary, each a shell text that prints what it has found. */
export const PLACES: Readonly<Record<string, string>> = {
  files: `grep -rlas --devices=skip ${PROGRAMS} '${PATTERN}' /var/vcap /tmp /var/tmp /run /dev/shm 2> /dev/null`,
  disk: `grep -rlas '${PATTERN}-disk' /var/vcap 2> /dev/null`,
  settings: `grep -rlas ${PROGRAMS} '${PATTERN}-env' /var/vcap /run 2> /dev/null`,
  names: `find /var/vcap /tmp /var/tmp /run /dev -name '${PATTERN}*' 2> /dev/null`,
  "arguments of processes": `cat /proc/[0-9]*/cmdline 2> /dev/null | tr '\\0' '\\n' | grep '${PATTERN}-argument'`,
  "environments of processes": `cat /proc/[0-9]*/environ 2> /dev/null | tr '\\0' '\\n' | grep '${PATTERN}-env'`,
  "roots of processes": `for pid in /proc/[0-9]*; do find "$pid/root/var/vcap/" -name '${PATTERN}*' 2> /dev/null; done`,
  "shared memory": `perl -e '$id = shmget(0x51a, 4096, 0); shmread($id, $b, 0, 64) and print "$b\\n"' | grep -a '${PATTERN}'`,
};

/** The same for what a sandbox keeps apart only with a network of its own. */
export const NETWORK_PLACES: Readonly<Record<string, string>> = {
  "names of sockets": `grep '${PATTERN}' /proc/net/unix`,
  "an abstract socket": answers(`"\\0${CANARY}-abstract"`),
  "a port of its loopback": answers(`PORT, "127.0.0.1"`),
};

/** One script that says of which places it has found something. */
export const searchOf = (places: Readonly<Record<string, string>>): string =>
  Object.entries(places)
    .map(([place, look]) => `if [ -n "$(${look})" ]; then echo 'found ${place}'; fi`)
    .join("\n");
