import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cloudConfig } from "./testing/documents.ts";
import { canPlay } from "./testing/requirements.ts";
import { makeStemcell } from "./testing/stemcell.ts";
import { openWorld } from "./testing/world.ts";

describe.runIf(await canPlay())("flags that no other story needs, with the real CLI", () => {
  const world = openWorld();
  const run = (...command: readonly string[]) => world().bosh.run(...command);
  const rows = (...command: readonly string[]) => world().bosh.rows(...command);
  const shop = (...command: readonly string[]) => run("-d", "shop", ...command);
  const file = (name: string, document: object) => world().file(name, document);
  const text = async (name: string, content: string) => {
    await writeFile(join(world().dir, name), content);
    return join(world().dir, name);
  };

  it("name and fill in configs", async () => {
    const cloud = await file("cloud.yml", { ...cloudConfig(world().net), x: "((a))((b))((c))((d))" });
    const without = await file("ops.yml", [{ type: "remove", path: "/x" }]);
    const vars = [
      "--var=a=1",
      `--var-file=b=${await text("b", "2")}`,
      "--vars-file",
      await text("c.yml", "c: 3\n"),
    ];
    const filled = [
      ...vars,
      "--vars-store",
      join(world().dir, "store.yml"),
      "--vars-env=NOBODY",
      "-o",
      without,
    ];
    await run("update-cloud-config", cloud, ...filled, "--name=default");
    expect((await run("cloud-config", "--name=default")).blocks).toContain("vm_types");
    const tags = await file("tags.yml", { tags: { a: "((a))((b))((c))" }, x: "((d))" });
    const tagged = ["--no-redact", "--name=more", "--fix-releases", ...filled];
    await run("update-runtime-config", tags, ...tagged);
    expect((await run("runtime-config", "--name=more")).blocks).toMatch(/a: "?123/);
    const first = await file("one.yml", { a: 1 });
    const open = await file("open.yml", { a: "((a))", b: "((b))((c))", x: "((d))" });
    const opened = [...filled, "-o", await file("less.yml", [{ type: "remove", path: "/b" }])];
    await run("update-config", "--type=mine", "--name=x", open, ...opened, "--expected-latest-id=0");
    expect((await run("config", "--type=mine", "--name=x")).rows[0]?.content).toMatch(/^a: 1\s*$/);
    const [{ id = "" } = {}] = await rows("configs", "--type=mine", "--name=x");
    const second = await file("two.yml", { a: 2 });
    await run(
      "update-config",
      "--type=mine",
      "--name=x",
      second,
      `--expected-latest-id=${id.replace("*", "")}`,
    );
    const late = ["--type=mine", "--name=x", first, "--expected-latest-id=1"];
    await world().bosh.refused("update-config", ...late);
    const [newest] = await rows("configs", "--type=mine", "--recent=1");
    const ids = ["--from-id", id.replace("*", ""), "--to-id", newest?.id?.replace("*", "") ?? ""];
    expect((await rows("diff-config", ...ids))[0]?.diff).toMatch(/-.*a: 1.*\+.*a: 2/s);
    expect((await rows("diff-config", "--from-content", first, "--to-content", second))[0]?.diff).toMatch(
      /a: 2/,
    );
    expect(await rows("config", "--type=mine", "--name=x")).toHaveLength(1);
    await run("delete-config", "--type=mine", "--name=x");
    expect(await rows("configs", "--type=mine")).toEqual([]);
  });

  it("say what a stemcell is before it is sent", async () => {
    const made = await makeStemcell(world().dir, "1.0");
    const named = [`--name=${made.name}`, `--version=${made.version}`, `--sha1=${made.sha1}`];
    await run("upload-stemcell", made.file, ...named, "--fix");
    const [{ name = "", version = "" } = {}] = await rows("stemcells");
    await run("delete-stemcell", `${name}/${version.replace("*", "")}`, "--force");
    expect(await rows("stemcells")).toEqual([]);
  });

  it("choose what is listed", async () => {
    await world().seed();
    await world().deploy("shop", [{ name: "web" }]);
    expect((await run("environment", "--details")).rows[0]).toMatchObject({ name: "story" });
    await run("cancel-tasks", "--type=update_deployment", "--state=queued");
    expect((await rows("tasks", "--recent=5", "--all")).length).toBeGreaterThan(0);
    const [newest] = await rows("tasks", "--recent=1");
    await run("task", newest?.id ?? "", "--all");
    const events = await rows("events");
    const [last] = events;
    const before = await rows("events", `--before-id=${/^\d+/.exec(last?.id ?? "")?.[0]}`);
    expect(before[0]?.id).not.toBe(last?.id);
    expect(
      await rows("events", "--after=2000-01-01 00:00:00 UTC", "--before=2000-01-02 00:00:00 UTC"),
    ).toEqual([]);
    expect((await rows("events", "--object-name=shop")).every((one) => one.object_name === "shop")).toBe(
      true,
    );
    expect((await run("curl", "--show-headers", "/info")).blocks).toContain("Content-Type");
  });

  it("fill in a manifest", async () => {
    const manifest = await world().manifest("shop", { name: "web" });
    const ops = await file("two.yml", [
      { type: "replace", path: "/instance_groups/0/instances", value: "((n))" },
    ]);
    const vars = ["-v", "m=1", `--var-file=k=${await text("k", "2")}`, "-l", await text("n.yml", "n: 2\n")];
    const store = ["--vars-store", join(world().dir, "deploy-store.yml"), "--vars-env=NOBODY"];
    await shop("deploy", manifest, "-o", ops, ...vars, ...store);
    expect(await world().instances("shop")).toHaveLength(2);
  });

  it("evaluate documents", async () => {
    const document = await file("doc.yml", { a: { b: "((c))" } });
    expect((await run("interpolate", document, "-v", "c=1", "--path=/a/b", "--var-errs")).blocks).toBe("1\n");
    expect(await world().bosh.refused("interpolate", document, "--var-errs")).toContain("c");
    const unused = ["-v", "c=1", "-v", "d=2", "--var-errs-unused"];
    expect(await world().bosh.refused("interpolate", document, ...unused)).toContain("d");
    expect((await run("interpolate", document, "-v", "c=1", "--var-errs-unused")).blocks).toContain("b: 1");
  });
});
