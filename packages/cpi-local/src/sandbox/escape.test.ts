import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { chmod, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { type Exec, systemExec } from "@slipway/kernel/exec";
import { eventually } from "@slipway/testkit/eventually";
import { isRoot, LocalCloud, sandboxTrouble } from "@slipway/testkit/local-cloud";
import { needs } from "@slipway/testkit/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AGENT, attempts, connects, mark, PLANT_KEY, VICTIM } from "./testing/escape-attempts.ts";

const trouble = await sandboxTrouble();
const possible = needs("userns", trouble === undefined, trouble);

type Said = Awaited<ReturnType<Exec>>;
/** A directory of this host that sandboxes see, or none where the user has no such place. */
async function visibleDirectory(): Promise<string | undefined> {
  for (const below of [process.env.SLIPWAY_VISIBLE_DIR ?? "/opt", homedir(), process.cwd()])
    if (!/^\/(?:tmp|var\/tmp|run|dev)(?:\/|$)/.test(below)) {
      const made = await mkdtemp(join(below, "slipway-escape-")).catch(() => undefined);
      if (made !== undefined) return made;
    }
  return undefined;
}
const visible = possible ? await visibleDirectory() : undefined;
const at = (name: string) => join(visible ?? "/nowhere", name);

/** A file system whose owners cannot be mapped, shared with the sandbox, stands for a host that cannot do it. */
const UNMAPPABLE = "/sys/class";
const KINDS = isRoot
  ? [
      { kind: "root has started", share: [] },
      { kind: "root has started where users cannot be mapped", share: [UNMAPPABLE] },
    ]
  : [{ kind: "an ordinary user has started", share: [] }];

describe.runIf(possible).each(KINDS)("root of a sandbox that $kind", ({ share }) => {
  let cloud: LocalCloud;
  let vm: string;
  let other: string;
  let pts: string;
  const children: ChildProcess[] = [];
  const servers: Server[] = [];
  let loop = "";

  const listen = async (path: string, mode: number): Promise<void> => {
    const server = createServer((socket) => socket.end());
    await new Promise<void>((resolve) => server.listen(path, resolve));
    if (!path.startsWith("\0")) await chmod(path, mode);
    servers.push(server);
  };

  /** A terminal with a process of its own on it. */
  const terminal = async (): Promise<string> => {
    const child = spawn("script", ["-qfc", `tty; exec sleep ${VICTIM}`, "/dev/null"], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    children.push(child);
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    return await eventually("a terminal", () => /\/dev\/pts\/\d+/.exec(said)?.[0]);
  };

  const plant = async (): Promise<void> => {
    if (visible === undefined) return;
    await chmod(visible, 0o755);
    await writeFile(at("secret"), "secret", { mode: 0o600 });
    await listen(at("socket"), 0o777);
    if (!isRoot) return;
    await systemExec("mknod", ["-m", "666", at("zero"), "c", "1", "5"]);
    await systemExec("truncate", ["-s", "8M", at("image")]);
    await systemExec("mkfs.ext4", ["-q", "-F", at("image")]);
    const { code, stdout } = await systemExec("losetup", ["--find", "--show", at("image")]);
    if (code !== 0) return;
    loop = stdout.trim();
    await systemExec("cp", ["-a", loop, at("disk")]);
    await systemExec("chmod", ["666", at("disk")]);
  };

  const attempted = async (script: string): Promise<Said> => {
    const said = cloud.vm(vm, "vcap", "said");
    await rm(said, { force: true });
    await writeFile(cloud.vm(vm, "vcap", "attack.new"), `NODE=/run/slipway/node\n${script}`);
    await rename(cloud.vm(vm, "vcap", "attack.new"), cloud.vm(vm, "vcap", "attack"));
    await eventually("the end of an attempt", () => existsSync(said) || undefined);
    return JSON.parse(readFileSync(said, "utf8")) as Said;
  };

  /** On the host, in mounts of its own if it may have some. */
  const controlled = (script: string): Promise<Said> => {
    const own = isRoot ? ["unshare", "--mount"] : ["env"];
    const [program = "", ...args] = [...own, "sh", "-c", `NODE='${process.execPath}'\n${script}`];
    return systemExec(program, args);
  };

  const whole = (attack: string): string =>
    attack.replaceAll("PTS", pts).replaceAll("CANARY", `'${cloud.vm(other, "vcap", "canary")}'`);

  beforeAll(async () => {
    cloud = await LocalCloud.open({ share });
    await writeFile(join(cloud.dir, "agent.cjs"), AGENT);
    pts = await terminal();
    await plant();
    await systemExec("perl", ["-e", PLANT_KEY]);
    vm = await cloud.newVm();
    other = await cloud.newVm();
    await writeFile(cloud.vm(other, "vcap", "canary"), "canary");
    if (visible !== undefined) await listen(at("late"), 0o600);
  });
  afterAll(async () => {
    for (const child of children) child.kill("SIGKILL");
    for (const server of servers) server.close();
    if (loop !== "") await systemExec("losetup", ["--detach", loop]);
    await cloud.close();
    for (const name of visible === undefined
      ? []
      : ["zero", "disk", "image", "socket", "late", "secret", "written"])
      await rm(at(name), { force: true });
  });

  const here = attempts(at).filter(
    ({ root, mapped, planted }) =>
      (isRoot || root === undefined) &&
      (share.length === 0 || mapped === undefined) &&
      (visible !== undefined || planted === undefined),
  );
  it.each(here)("does not reach $what", async ({ attack, control }) => {
    const real = await controlled(whole(attack));
    if (control === "always" || (control === "root" && isRoot))
      expect(real, "on the host itself").toMatchObject({ code: 0 });
    const tried = await attempted(whole(attack));
    expect(tried.code, `${tried.stdout}${tried.stderr} (on the host itself: ${real.code})`).not.toBe(0);
  });

  it("still has terminals, devices and accounts of its own", async () => {
    const { code, stdout, stderr } = await attempted(`
      set -e
      script -qec 'echo on $(tty)' /dev/null < /dev/null
      head -c 1 /dev/zero > /dev/null
      mkdir -p /var/vcap/data/x
      [ "$(stat -c %u /var/vcap/data)" = 0 ]
      ${isRoot ? "chown 1000:1000 /var/vcap/data/x && setpriv --reuid 1000 --regid 1000 --clear-groups touch /var/vcap/data/x/y && su nobody -s /bin/sh -c true" : ""}
    `);
    expect({ code, stderr, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("on /dev/pts/0"),
    });
  });

  it.runIf(isRoot && share.length === 0)(
    "has ids that no user has outside, and other than those of another sandbox",
    async () => {
      const idOf = (cid: string) =>
        Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${cloud.pid(cid)}/status`, "utf8"))?.[1]);
      expect(idOf(vm)).toBeGreaterThan(65_536);
      expect(idOf(other)).not.toBe(idOf(vm));
    },
  );

  it.runIf(share.length > 0)("says in its log that its root has the number of the host's root", async () => {
    expect(await cloud.result("get_vm_log", [vm])).toContain("users cannot be mapped here");
  });
});

afterAll(async () => {
  if (visible !== undefined) await rm(visible, { recursive: true, force: true });
});

const netns = needs("root-netns", isRoot && possible, "only root gives sandboxes networks of their own");
describe.runIf(netns)("root of a sandbox with a network of its own", () => {
  let cloud: LocalCloud;
  let vm: string;
  const servers: Server[] = [];
  beforeAll(async () => {
    cloud = await LocalCloud.open();
    const octet = 1 + (Number.parseInt(mark, 16) % 250);
    const network = {
      type: "manual",
      ip: `10.213.${octet}.5`,
      netmask: "255.255.255.0",
      gateway: `10.213.${octet}.1`,
    };
    const args = ["agent-net", await cloud.newStemcell(), {}, { private: network }, [], {}];
    [vm] = await cloud.result<[string]>("create_vm", args);
    for (const place of [{ path: `\0slipway-${mark}` }, { port: 0, host: "127.0.0.1" }]) {
      const server = createServer((socket) => socket.end());
      await new Promise<void>((resolve) => server.listen(place, resolve));
      servers.push(server);
    }
  });
  afterAll(async () => {
    for (const server of servers) server.close();
    await cloud.close();
  });

  it.each(["an abstract socket of the host", "a port of the host's loopback"])(
    "does not reach %s",
    async (what) => {
      const address = servers[1]?.address();
      const port = typeof address === "object" ? address?.port : 0;
      const to = what.includes("abstract") ? `{ path: "\\0slipway-${mark}" }` : `${port}, "127.0.0.1"`;
      const run = (node: string) => `NODE='${node}'\n${connects(to)}`;
      expect((await systemExec("sh", ["-c", run(process.execPath)])).code).toBe(0);
      expect((await cloud.inside(vm, run("/run/slipway/node"))).code).not.toBe(0);
    },
  );
});
