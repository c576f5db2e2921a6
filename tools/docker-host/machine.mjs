// A machine of its own, emulated: its power, its console, and a shell of root's in it. One QEMU for each time it is on.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createConnection } from "node:net";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { GIVEN, PORTS } from "./image.mjs";

/**
 * By emulation, unless told otherwise: a /dev/kvm may be there and not work. Only one processor: with two, newer kernels
 * change code under the other one's feet, and QEMU 7.2 does not notice. No cx16: there, QEMU 7.2 spoils the flags. The
 * counter of cycles (tsc) means nothing on a busy machine.
 */
const PROCESSOR = {
  tcg: ["-accel", "tcg,tb-size=256", "-cpu", "qemu64,-cx16"],
  kvm: ["-accel", "kvm", "-cpu", "host"],
};
const SIZE = ["-smp", "1", "-m", "1536"];
const KERNEL_WORDS =
  "root=/dev/nvme0n1 rw console=ttyS0 quiet mitigations=off tsc=unstable audit=0 net.ifnames=0 panic=-1";

export class Machine {
  #dir;
  #image;
  #ports;
  #accel;
  #starts = 0;
  #qemu;
  #shell;

  /** The directory is for what it writes, and has the certificates it is given. `ports` are those of this host. */
  constructor({ dir, image, ports, accel }) {
    this.#dir = resolve(dir);
    this.#image = resolve(image);
    this.#ports = ports;
    this.#accel = accel;
    const copy = ["--sparse=always", "--reflink=auto", join(this.#image, "disk.raw"), this.#disk];
    const made = spawnSync("cp", copy, { encoding: "utf8" });
    if (made.status !== 0) throw new Error(`cp: ${made.stderr || made.error?.message}`);
  }

  /**
   * Raw: what the machine has written is this host's, and only its memory is lost with the emulator. A qcow2 would lose
   * more than a real disk may: its tables are in QEMU's memory, and QEMU's NVMe does not heed the bit (FUA) by which the
   * last block of a journal is asked to be on the disk.
   */
  get #disk() {
    return join(this.#dir, "disk.raw");
  }

  get #console() {
    return join(this.#dir, `console-${this.#starts}`);
  }

  get isOn() {
    return this.#qemu !== undefined && this.#qemu.exitCode === null && this.#qemu.signalCode === null;
  }

  switchOn() {
    this.#starts += 1;
    const forward = [
      [this.#ports.engine, PORTS.engine],
      ...this.#ports.agents.map((own, n) => [own, PORTS.agents[n]]),
    ];
    const network = forward.map(([own, inside]) => `,hostfwd=tcp:127.0.0.1:${own}-:${inside}`).join("");
    const files = ["ca.pem", "engine.pem", "engine.key"].flatMap((name) => [
      "-fw_cfg",
      `name=${GIVEN}/${name},file=${join(this.#dir, name)}`,
    ]);
    const qemu = spawn(
      "setpriv",
      [
        // It ends with this process, however that ends.
        ...["--pdeathsig", "KILL", "qemu-system-x86_64"],
        ...[
          "-M",
          "q35",
          ...PROCESSOR[this.#accel],
          ...SIZE,
          "-nodefaults",
          "-no-user-config",
          "-display",
          "none",
          "-no-reboot",
        ],
        ...[
          "-kernel",
          join(this.#image, "vmlinuz"),
          "-append",
          KERNEL_WORDS,
          "-device",
          "virtio-rng-pci",
          ...files,
        ],
        ...["-drive", `file=${this.#disk},format=raw,if=none,id=root,discard=unmap`],
        ...["-device", "nvme,drive=root,serial=root"],
        ...["-netdev", `user,id=net,ipv6=off${network}`, "-device", "virtio-net-pci,netdev=net,romfile="],
        ...["-serial", `file:${this.#console}`],
        ...["-serial", `unix:${join(this.#dir, "shell")},server=on,wait=off`],
      ],
      { stdio: ["ignore", "ignore", "pipe"] },
    );
    this.said = "";
    qemu.stderr.setEncoding("utf8").on("data", (text) => (this.said += text));
    qemu.on("error", (error) => (this.said += error.message));
    this.#qemu = qemu;
    this.#shell = undefined;
  }

  /** As when somebody pulls the plug. */
  async losePower() {
    this.pull();
    await this.#end(10_000);
  }

  pull() {
    this.#qemu?.kill("SIGKILL");
  }

  /** By its own means: services are stopped, file systems unmounted. The machine is off afterwards. */
  async goDown(ms) {
    void this.run("systemctl reboot", ms).catch(() => undefined);
    await this.#end(ms);
  }

  async #end(ms) {
    for (const until = performance.now() + ms; this.isOn; await sleep(50))
      if (performance.now() > until) throw new Error(`the machine is still on after ${ms / 1000} s`);
    this.#shell?.destroy();
    this.#shell = undefined;
  }

  /** What a command of one line says in the machine. One at a time. */
  async run(command, ms = 120_000) {
    this.#shell ??= await connect(join(this.#dir, "shell"));
    const shell = this.#shell;
    const mark = `end-${Math.floor(Math.random() * 1e9)}`;
    let text = "";
    const heard = (piece) => (text += piece);
    shell.on("data", heard);
    try {
      shell.write(`${mark} ${command}\n`);
      const end = new RegExp(`^${mark}:(\\d+)$`, "m");
      for (const until = performance.now() + ms; !end.test(text); await sleep(50)) {
        if (!this.isOn) throw new Error(`the machine went off during: ${command}`);
        if (performance.now() > until) throw new Error(`no answer in the machine to: ${command}\n${text}`);
      }
      const [, code] = end.exec(text);
      const output = text.slice(0, text.search(end)).trim();
      if (code !== "0") throw new Error(`in the machine: ${command}: ended with ${code}: ${output}`);
      return output;
    } finally {
      shell.off("data", heard);
    }
  }

  lastLines(count = 25) {
    const text = existsSync(this.#console) ? readFileSync(this.#console, "utf8") : "";
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours of the console
    const lines = text.replaceAll(/\u001b\[[\d;]*[a-zA-Z]|\r/g, "").split("\n");
    const told = lines.filter((line) => line.length > 20 && !/Job .* running/.test(line));
    return [...told.slice(-count), this.said].join("\n").trim();
  }
}

function connect(path) {
  return new Promise((done, fail) => {
    const socket = createConnection(path, () => done(socket));
    socket.setEncoding("utf8").on("error", fail);
  });
}
