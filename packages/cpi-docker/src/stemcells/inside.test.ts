import { chmod, lstat, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { agentConfig } from "@slipway/protocol/agent/agent-config";
import { Child } from "@slipway/testkit/child";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import * as v from "valibot";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { imageFiles } from "../image-files.ts";

let dir: string;
let remove: () => Promise<void>;
let child: Child | undefined;
beforeEach(async () => {
  ({ path: dir, remove } = await temporaryDirectory());
});
afterEach(async () => {
  // Not by force: what it has started would be left.
  child?.process.kill("SIGTERM");
  await child?.end();
  child = undefined;
  await remove();
});

const textOf = (name: string): string => {
  const file = imageFiles({ agent: "/a", node: "/n" }).find((one) => one.name === name);
  if (file === undefined || !("text" in file)) throw new Error(`there is no text ${name}`);
  return file.text;
};
const read = (name: string) => readFile(join(dir, name), "utf8").catch(() => "");

/** The init, with its places in a directory of the test and a script in place of the agent. */
async function startInit(agent: string): Promise<Child> {
  await writeFile(join(dir, "agent"), `#!/bin/sh\ncd '${dir}'\n${agent}\n`);
  await chmod(join(dir, "agent"), 0o755);
  const init = textOf("usr/sbin/init")
    .replaceAll("/var/lib/slipway", dir)
    .replaceAll("/etc/resolv.conf", `${dir}/resolv.conf`)
    .replaceAll("/usr/sbin/sshd", `${dir}/no-sshd`)
    .replaceAll("/usr/local/bin/node", `${dir}/agent`);
  await writeFile(join(dir, "init"), init);
  child = new Child("sh", [join(dir, "init")]);
  return child;
}

describe("the init of an image", () => {
  it("starts the agent again whether it asked for it, failed or was killed, and no more once it is to be off", async () => {
    const init = await startInit(`echo "$*" >>starts
case $(wc -l <starts) in
  1) exit 0 ;;
  2) kill -KILL $$ ;;
  3) exit 1 ;;
  *) exit 3 ;;
esac`);
    await expect.poll(() => read("power")).toBe("off\n");
    await expect.poll(() => asleep(init.pid)).toBe(true);
    expect(await read("starts")).toBe("/usr/lib/slipway/slipway-agent.cjs --platform linux\n".repeat(4));
  });

  it("stays off when it starts and was switched off before, and still ends on a signal", async () => {
    await writeFile(join(dir, "power"), "off\n");
    const init = await startInit("echo started >>starts");
    await expect.poll(() => asleep(init.pid)).toBe(true);
    init.process.kill("SIGTERM");
    expect(await init.end()).toBe(0);
    expect(await read("starts")).toBe("");
  });

  it("keeps a list of name servers, and removes a link that leads nowhere in its place", async () => {
    const list = join(dir, "resolv.conf");
    const started = async () => {
      const init = await startInit("echo >>starts; exit 3");
      await expect.poll(() => asleep(init.pid)).toBe(true);
      init.process.kill("SIGTERM");
      await init.end();
    };
    await writeFile(list, "nameserver 192.0.2.7\n");
    await started();
    expect(await read("resolv.conf")).toBe("nameserver 192.0.2.7\n");
    await rm(list);
    await symlink(join(dir, "nowhere"), list);
    await started();
    await expect(lstat(list)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("ends in an orderly way, the agent first", async () => {
    const init = await startInit(`trap 'echo ended >>ends; exit 1' TERM
echo >>starts
while :; do sleep 0.05; done`);
    await expect.poll(() => read("starts")).toBe("\n");
    init.process.kill("SIGTERM");
    expect(await init.end()).toBe(0);
    expect(await read("ends")).toBe("ended\n");
  });
});

it("the agent understands the agent.json of an image", () => {
  const config = v.parse(agentConfig, JSON.parse(textOf("var/vcap/bosh/agent.json")));
  expect(config.Platform?.Linux).toEqual({
    SkipDiskSetup: true,
    UseWholePersistentDisk: true,
    BindMountPersistentDisk: true,
  });
});

/**
 * Its child sleeps, and it waits for it: it has come to its loop. Ended between the two, it would leave the child,
 * which in a container ends with process 1.
 */
async function asleep(pid: number): Promise<boolean> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "");
  const [first] = children.trim().split(" ");
  if ((await readFile(`/proc/${first}/comm`, "utf8").catch(() => "")) !== "sleep\n") return false;
  return / S /.test(await readFile(`/proc/${pid}/stat`, "utf8"));
}
