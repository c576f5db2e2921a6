import { readFileSync } from "node:fs";
import { bundleScript, Child } from "@slipway/testkit/child";
import { describe, expect, it } from "vitest";
import { lifeOf, ownIdentity, type ProcessIdentity } from "./process-identity.ts";

const self = ownIdentity();

describe("the identity of a process", () => {
  it("is the same each time it is asked for and survives JSON", () => {
    expect(ownIdentity()).toEqual(self);
    expect(JSON.parse(JSON.stringify(self))).toEqual(self);
    expect(self.pid).toBe(process.pid);
    expect(self.boot).not.toBe("");
    expect(self.started).toMatch(/^\d+$/);
  });

  it("makes oneself alive", () => {
    expect(lifeOf(self, self)).toBe("alive");
  });

  it("makes another process alive while it runs and dead after it was killed", async () => {
    const source = `import { ownIdentity } from "./process-identity.ts";
      console.log(JSON.stringify(ownIdentity()));
      setInterval(() => {}, 1000);`;
    const child = Child.node(await bundleScript(source));
    const other = JSON.parse(await child.line()) as ProcessIdentity;
    expect(other.pid).toBe(child.pid);
    expect(lifeOf(other, self)).toBe("alive");
    await child.kill();
    expect(lifeOf(other, self)).toBe("dead");
  });

  it("makes a process dead that is gone but that its parent has not yet buried", async () => {
    // The shell turns into a program that buries nobody, before its child is gone.
    const shell = new Child("sh", ["-c", "sh -c 'echo $$' & exec sleep 600"]);
    const pid = Number(await shell.line());
    const fields = () => readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    while (fields()[0] !== "Z") await new Promise(setImmediate);
    expect(lifeOf({ ...self, pid, started: fields()[19] ?? "" }, self)).toBe("dead");
    await shell.kill();
  });

  it("tells a reused pid from its first bearer by the time of its start", () => {
    expect(lifeOf({ ...self, started: "1" }, self)).toBe("dead");
  });

  it("makes every process of an earlier boot dead", () => {
    expect(lifeOf({ ...self, boot: "an earlier one" }, self)).toBe("dead");
  });

  it("says nothing about a pid of another namespace", () => {
    expect(lifeOf({ ...self, namespace: "pid:[1]" }, self)).toBe("unknown");
  });
});
