import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Exec, ExecResult } from "@slipway/kernel/exec";
import type { LinuxConfig } from "@slipway/protocol/agent/agent-config";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { pathsUnder } from "../../paths.ts";
import type { DiskPlatform } from "../disks.ts";
import { linuxDisks } from "../linux/disks/linux-disks.ts";
import { recordingLog } from "./recording-log.ts";

/** A fake `/sys` and `/dev`, to test the search for hardware that is not here. */
export class FakeMachine {
  readonly root: string;
  readonly log = recordingLog();
  readonly clock = fakeClock({ hurry: true });
  readonly commands: string[] = [];
  /** Answers of programs, by program name. All others succeed and do nothing. */
  readonly programs = new Map<string, (args: readonly string[]) => Promise<Partial<ExecResult>>>();
  readonly #numbers = new Map<string, string>();

  private constructor(root: string) {
    this.root = root;
  }

  static async open(): Promise<FakeMachine> {
    return new FakeMachine(await mkdtemp(join(tmpdir(), "slipway-machine-")));
  }

  at = (...parts: string[]): string => join(this.root, ...parts);

  async file(path: string, content: string | Uint8Array): Promise<void> {
    await mkdir(dirname(this.at(path)), { recursive: true });
    await writeFile(this.at(path), content);
  }

  async link(path: string, to: string): Promise<void> {
    await mkdir(dirname(this.at(path)), { recursive: true });
    await symlink(this.at(to), this.at(path));
  }

  /** A disk of the kernel with its node; `place` is its directory below `/sys/devices`. */
  async disk(
    name: string,
    number: string,
    attributes: Record<string, string | Uint8Array> = {},
    place = "virtual",
  ) {
    const sysfs = `sys/devices/${place}/block/${name}`;
    await this.file(`${sysfs}/dev`, `${number}\n`);
    await this.file(`${sysfs}/size`, "204800\n");
    for (const [attribute, content] of Object.entries(attributes))
      await this.file(`${sysfs}/${attribute}`, content);
    await this.link(`sys/block/${name}`, sysfs);
    await this.link(`sys/dev/block/${number}`, sysfs);
    await this.node(`dev/${name}`, number);
    return this.at("dev", name);
  }

  async node(path: string, number: string): Promise<void> {
    await this.file(path, "");
    this.#numbers.set(this.at(path), number);
  }

  exec: Exec = async (program, args) => {
    this.commands.push([program, ...args].join(" "));
    if (program === "mknod") this.#numbers.set(args[2] ?? "", `${args[4]}:${args[5]}`);
    const answer = (await this.programs.get(program)?.(args)) ?? {};
    return { program, args, code: 0, stdout: "", stderr: "", ...answer };
  };

  platform(config: LinuxConfig = {}): DiskPlatform {
    const { realNumber } = this;
    return linuxDisks({
      config,
      paths: pathsUnder(this.at("var/vcap"), this.root),
      exec: this.exec,
      clock: this.clock,
      log: this.log,
      nodes: { numberOf: realNumber },
    });
  }

  /** Nodes are plain files here; links to them count, as they do for the kernel. */
  private readonly realNumber = async (path: string): Promise<string | undefined> => {
    return this.#numbers.get(await realpath(path).catch(() => path));
  };

  /** A signal that aborts after so much of this machine's time. */
  deadline(ms: number): AbortSignal {
    const controller = new AbortController();
    this.clock.after(ms, () => controller.abort(new Error("time is up")));
    return controller.signal;
  }

  close = (): Promise<void> => rm(this.root, { recursive: true, force: true });
}
