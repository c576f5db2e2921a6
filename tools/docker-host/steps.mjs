// What the story is made of: asking until something holds, and what has to hold of VMs, disks and snapshots.
import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

const BOOT_MS = 600_000;
const AGENT_MS = 300_000;
export const DISK_HELPER = "slipway-keeper-slipway-disks";
const STORE = "/var/vcap/store";

export class Steps {
  #machine;
  #cloud;

  constructor({ machine, cloud }) {
    this.#machine = machine;
    this.#cloud = cloud;
  }

  async start() {
    this.#machine.switchOn();
    await this.until("the engine to answer", BOOT_MS, () => this.#cloud.docker("version"));
  }

  async agentAnswers(n) {
    await this.until(
      "the agent to answer",
      AGENT_MS,
      async () => (await this.#cloud.agent(n, "ping")) === "pong",
    );
  }

  /** Of a VM without ports. */
  async agentAnswersInside(vm) {
    const pings = async () =>
      (await this.#cloud.in(vm, `node -e '${this.#cloud.pingScript}'`)).includes("pong");
    await this.until("the agent to answer", AGENT_MS, pings);
  }

  /** As a Director does it. How long the CPI took to attach it. */
  async mount(n, vm, disk) {
    const since = performance.now();
    const hint = await this.#cloud.cpi("attach_disk", vm, disk);
    const took = performance.now() - since;
    await this.#cloud.agent(n, "add_persistent_disk", disk, hint);
    await this.#cloud.agent(n, "mount_disk", disk);
    return took;
  }

  async unmount(n, vm, disk) {
    await this.#cloud.agent(n, "unmount_disk", disk);
    await this.#cloud.agent(n, "remove_persistent_disk", disk);
    await this.#cloud.cpi("detach_disk", vm, disk);
  }

  /** What is mounted; empty when nothing is. */
  async mounted(vm) {
    return await this.#cloud.in(vm, `grep ' ${STORE} ' /proc/mounts | cut -d ' ' -f 1-3 || true`);
  }

  async sizeMib(vm) {
    return Number(await this.#cloud.in(vm, `df -m ${STORE} | awk 'NR == 2 { print $2 }'`));
  }

  async writeData(vm) {
    const data = `${STORE}/data`;
    await this.#cloud.in(
      vm,
      `head -c 8000000 /dev/urandom >${data} && sha256sum ${data} >${STORE}/sum && sync`,
    );
  }

  /** That the VM has this disk mounted, with the data. */
  async holds(n, vm, disk) {
    await this.until("its disk to be mounted", AGENT_MS, () => this.mounted(vm));
    await this.#cloud.in(vm, `sha256sum -c ${STORE}/sum`);
    const listed = await this.#cloud.agent(n, "list_disk");
    if (!listed.includes(disk)) throw new Error(`the agent has the disks ${JSON.stringify(listed)}`);
  }

  async snapshotHolds(cid) {
    const file = `/slipway/snapshots/${cid}/${cid}.img`;
    const at = "/tmp/snapshot";
    await this.#cloud.in(
      DISK_HELPER,
      `set -eu; e2fsck -fn ${file} >/dev/null; mkdir -p ${at}; mount -o ro,loop ${file} ${at}
       trap 'umount ${at}' EXIT; read sum name <${at}/sum; echo "$sum  ${at}/data" | sha256sum -c`,
    );
  }

  /** Lines of numbers, each on the disk before it is said. */
  async startWriting(vm) {
    const script = `n=0; while :; do n=$((n + 1)); echo $n; sync ${STORE}/log; echo $n >&2; done >${STORE}/log`;
    const command = this.#cloud.dockerArguments("exec", vm, "sh", "-c", script);
    const child = spawn("docker", command, { stdio: ["ignore", "ignore", "pipe"] });
    let text = "";
    child.stderr.setEncoding("utf8").on("data", (piece) => (text += piece));
    const last = () => Number(text.split("\n").at(-2) ?? 0);
    await this.until("it to write", 60_000, () => last() >= 3);
    return { last, end: () => child.kill("SIGKILL") };
  }

  /** How many lines there are, if those that were safe are among them. */
  async linesAfter(vm, safe) {
    const script = `awk '!wrong && $0 != NR { wrong = NR } END { print NR, wrong + 0 }' ${STORE}/log`;
    const [lines, wrong] = (await this.#cloud.in(vm, script)).split(" ").map(Number);
    if (lines >= safe && (wrong === 0 || wrong > safe)) return lines;
    const seen = await this.#cloud.in(vm, `ls -l ${STORE}; tail -n 3 ${STORE}/log`);
    throw new Error(`${safe} lines were safe; there are ${lines}, the first wrong one is ${wrong}\n${seen}`);
  }

  /** Asked again until it says something; errors count as not yet. */
  async until(what, ms, ask) {
    let trouble = "";
    for (const end = performance.now() + ms; performance.now() < end; await sleep(300)) {
      if (!this.#machine.isOn) throw new Error(`the machine is off, while waiting for ${what}`);
      try {
        if (await ask()) return;
      } catch (error) {
        trouble = `; the last answer was: ${error.message}`;
      }
    }
    throw new Error(`waited ${ms / 1000} s for ${what}${trouble}`);
  }
}
