import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { mustRun, systemExec } from "@slipway/kernel/exec";
import { systemRandom } from "@slipway/kernel/random";
import { onTestFinished } from "vitest";
import type { Order } from "./agents-in-namespace.ts";

const ip = (...args: readonly string[]) => mustRun(systemExec, "preparing the test", "ip", args);

/** Returns why networks cannot be made here: root, iproute2 or bridges are missing. */
export async function networksTrouble(): Promise<string | undefined> {
  const tried = await systemExec("unshare", ["--net", "ip", "link", "add", "type", "bridge"]).catch(
    () => undefined,
  );
  return tried?.code === 0 ? undefined : "it needs root, ip and bridges";
}

/** A switch on this machine, with namespaces behind cables that can be pulled. */
export async function makeSwitch() {
  const id = systemRandom.hex(2);
  const net = `198.18.${Number.parseInt(systemRandom.hex(1), 16)}`;
  const bridge = `slwb${id}`;
  await ip("link", "add", bridge, "type", "bridge");
  onTestFinished(async () => void (await ip("link", "del", bridge)));
  await ip("addr", "add", `${net}.1/24`, "dev", bridge);
  await ip("link", "set", bridge, "up");
  let made = 0;

  /** A namespace with agents in a process of their own. */
  const namespace = async (program: string) => {
    made += 1;
    const at = made;
    const name = `slwn${id}${at}`;
    const cable = `slwc${id}${at}`;
    await ip("netns", "add", name);
    onTestFinished(async () => void (await ip("netns", "del", name)));
    await ip("link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", name);
    // What is left of connections would keep it for a while.
    onTestFinished(async () => void (await ip("link", "del", cable)));
    await ip("link", "set", cable, "master", bridge, "up");
    await ip("-n", name, "addr", "add", `${net}.${at + 1}/24`, "dev", "eth0");
    await ip("-n", name, "link", "set", "eth0", "up");
    const child: ChildProcess = spawn("ip", ["netns", "exec", name, process.execPath, program], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    onTestFinished(async () => {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    });
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
    return {
      tell: async (order: Order) => {
        const done = once(lines, "line");
        child.stdin?.write(`${JSON.stringify(order)}\n`);
        await done;
      },
      /** Cuts the cable: packets are lost without an error. */
      cut: () => ip("link", "set", cable, "down"),
      mend: () => ip("link", "set", cable, "up"),
    };
  };
  return { host: `${net}.1`, namespace };
}
