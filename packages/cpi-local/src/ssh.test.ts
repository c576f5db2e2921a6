import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { agentBundle } from "@slipway/testkit/agent-bundle";
import { AgentCaller } from "@slipway/testkit/agent-caller";
import { AGENT_SERVER, CA } from "@slipway/testkit/certificates";
import { LocalCloud, nextAddress, sandboxTrouble } from "@slipway/testkit/local-cloud";
import { needs } from "@slipway/testkit/needs";
import { sshLogin as login, type SshSetUp as SetUp, sshKey } from "@slipway/testkit/ssh-login";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const bundle = agentBundle();
const trouble = await sandboxTrouble();
const has = (program: string) => spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
const here =
  needs("userns", trouble === undefined, trouble) &&
  needs("sshd", has("/usr/sbin/sshd") && has("ssh"), "it takes ssh and sshd (openssh-server)");
const PATIENCE_MS = 300_000;

describe.runIf(here)("the message ssh in a sandbox", { timeout: PATIENCE_MS }, () => {
  let cloud: LocalCloud;
  beforeAll(async () => {
    cloud = await LocalCloud.open({ agent: bundle() });
  });
  afterAll(() => cloud.close());

  /** A VM of the CPI with the real agent, as a Director that has its own certificates makes it. */
  async function vm() {
    const ip = nextAddress();
    const given = cloud.vmArguments(await cloud.newStemcell(), ip);
    const { certificate, privateKey } = AGENT_SERVER;
    const cert = { ca: CA, certificate, private_key: privateKey };
    const mbus = { urls: [`https://mbus:s3cret@${ip}:6868`], cert };
    const [cid] = await cloud.result<[string]>("create_vm", [...given.slice(0, -1), { bosh: { mbus } }]);
    const caller = new AgentCaller(6868, ip);
    await caller.pong();
    return { cid, ip, caller };
  }

  it("lets its user in by key to the VM's own files and disk, also after a reboot, until it is cleaned up", async () => {
    const { cid, ip, caller } = await vm();
    const mine = await sshKey(cloud.dir, "mine");
    const params = { user: "bosh_abc", public_key: mine.key };
    const first = (await caller.value("ssh", "setup", params)) as SetUp;
    expect(first).toMatchObject({ command: "setup", status: "success", ip });
    const disk = await cloud.newDisk(64);
    await caller.value("mount_disk", disk, await cloud.result("attach_disk", [cid, disk]));
    await cloud.insideMust(cid, "echo data > /var/vcap/store/file");

    // A session is in the VM: its processes are the agent's neighbours, and its files those of the jobs.
    const second = (await caller.value("ssh", "setup", params)) as SetUp;
    const seen = await login(
      second,
      "bosh_abc",
      mine,
      "whoami; cat /var/vcap/store/file; echo of ssh > /var/vcap/store/left; cat /proc/1/comm >/dev/null && echo same",
    );
    expect(seen).toMatchObject({ code: 0, stdout: "bosh_abc\ndata\nsame\n" });
    expect(await cloud.insideMust(cid, "cat /var/vcap/store/left")).toBe("of ssh\n");
    const others = await sshKey(cloud.dir, "others");
    expect((await login(second, "bosh_abc", others, "true")).stderr).toContain("Permission denied");

    await cloud.result("reboot_vm", [cid]);
    await caller.pong();
    const third = (await caller.value("ssh", "setup", params)) as SetUp;
    expect(third.host_public_key).toBe(first.host_public_key);
    expect((await login(third, "bosh_abc", mine, "cat /var/vcap/store/file")).stdout).toBe("data\n");

    expect(await caller.value("ssh", "cleanup", { user_regex: "^bosh_abc$" })).toEqual({
      command: "cleanup",
      status: "success",
    });
    expect((await login(third, "bosh_abc", mine, "true")).code).not.toBe(0);

    // The machine has no such user, and nothing of sshd is left when the VM goes.
    expect(await readFile("/etc/passwd", "utf8")).not.toContain("bosh_abc");
    await caller.value("ssh", "setup", params);
    await cloud.result("delete_vm", [cid]);
    await cloud.result("delete_disk", [disk]);
    expect(await cloud.traces()).toEqual([]);
  });
});
