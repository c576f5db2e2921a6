import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ApiRequest } from "../api/director-api.ts";
import { deploy } from "../commands/deploy.ts";
import { ownDirectory } from "../interpolate/testing/own-directory.ts";
import { typedOptionsOf } from "../interpolate/testing/typed-options.ts";
import { scene } from "./testing/fakes.ts";

const file = async (text: string) => {
  const path = join(await ownDirectory(), "m.yml");
  await writeFile(path, text);
  return path;
};
const CONTEXT = { cloud_config_ids: [3], runtime_config_ids: [] };
const DIFF = [
  ["name: shop", null],
  ["  instances: 1", "removed"],
  ["  instances: 2", "added"],
];
const VMS = [
  { job: "db", index: 0, id: "a", cid: "vm-1", active: true, vm_created_at: "2029-01-01T00:00:00Z" },
  { job: "db", index: 1, id: "b", cid: "vm-2", active: true, vm_created_at: "2031-01-01T00:00:00Z" },
  { job: "db", index: 1, id: "b", cid: "vm-3", active: false, vm_created_at: "2029-01-01T00:00:00Z" },
];
const answers = {
  "GET /configs": [],
  "POST /deployments/shop/diff": { diff: DIFF, context: CONTEXT },
  "GET /deployments/shop/vms": VMS,
  "POST /deployments": 42,
};
type Options = Parameters<typeof typedOptionsOf>[0];
const play = async (
  options: Options,
  around: Parameters<typeof scene>[0] = {},
  manifest = "{name: shop, size: ((n))}\n",
) => {
  const { tools, heard } = scene({ deployment: "shop", answers, ...around });
  const done = deploy.run(typedOptionsOf(options, [await file(manifest)]), tools);
  return { done, heard };
};
const deployed = async (options: Options, around?: Parameters<typeof scene>[0]) => {
  const { done, heard } = await play(options, around);
  expect(await done).toBe(0);
  const last = heard.requests.at(-1);
  return { heard, query: JSON.parse(JSON.stringify(last?.query)) as object };
};

describe("deploy", () => {
  it("compares, shows, asks, and deploys the same text with the configs it was compared with", async () => {
    const { heard, query } = await deployed({ var: ["n=2"] });
    expect(heard.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "GET /configs",
      "POST /deployments/shop/diff",
      "POST /deployments",
    ]);
    expect(heard.requests[1]).toMatchObject({
      query: { redact: "true" },
      contentType: "text/yaml",
      body: "name: shop\nsize: 2\n",
    });
    expect(heard.requests[2]).toMatchObject({ contentType: "text/yaml", body: "name: shop\nsize: 2\n" });
    expect(query).toEqual({ context: JSON.stringify(CONTEXT) });
    expect(heard.lines).toEqual(["  name: shop", "<red>-   instances: 1", "<green>+   instances: 2"]);
    expect(heard.questions).toEqual(["Continue?"]);
    expect(heard.followed).toEqual([42]);
  });

  it("says how many VMs a recreate replaces, before it asks, also when nothing else changes", async () => {
    const unchanged = { ...answers, "POST /deployments/shop/diff": { diff: [], context: CONTEXT } };
    const { heard } = await deployed({ recreate: true }, { answers: unchanged });
    expect(heard.lines).toEqual([
      "No changes in the manifest and the configs.",
      "2 VMs will be replaced by new ones; disks are kept.",
    ]);
    const older = await deployed({ "recreate-vms-created-before": "2030-01-01T00:00:00Z" });
    expect(older.heard.lines.at(-1)).toBe("1 VM will be replaced by a new one; disks are kept.");
  });

  it("leaves variables without a value to the Director", async () => {
    const { heard } = await deployed({});
    expect(heard.requests.at(-1)?.body).toBe("name: shop\nsize: ((n))\n");
  });

  it.each<[Options, object]>([
    [{ recreate: true }, { recreate: "true" }],
    [{ "recreate-persistent-disks": true }, { recreate_persistent_disks: "true" }],
    [
      { "recreate-vms-created-before": "2030-01-01T00:00:00Z" },
      { recreate: "true", recreate_vms_created_before: "2030-01-01T00:00:00Z" },
    ],
    [{ fix: true }, { fix: "true" }],
    [{ "skip-drain": true }, { skip_drain: "*" }],
    [
      { canaries: "2", "max-in-flight": "50%" },
      { canaries: "2", max_in_flight: "50%" },
    ],
    [{ "dry-run": true }, { dry_run: "true" }],
    [{ "force-latest-variables": true }, { force_latest_variables: "true" }],
  ])("%j", async (options, expected) => {
    const { query } = await deployed(options);
    expect(query).toEqual({ context: JSON.stringify(CONTEXT), ...expected });
  });

  it("--skip-drain without = does not take the manifest for a group", async () => {
    const path = await file("name: shop\n");
    const drained = async (slugs: readonly string[], args: readonly string[]) => {
      const { tools, heard } = scene({ deployment: "shop", answers });
      const given = {
        ...typedOptionsOf({ "skip-drain": slugs }, args),
        flag: (option: string) => option === "skip-drain",
      };
      await deploy.run(given, tools);
      return heard.requests.at(-1)?.query?.skip_drain;
    };
    expect(await drained([path], [])).toBe("*");
    expect(await drained(["web", path], [])).toBe("web");
    expect(await drained(["web", "db/0"], [path])).toBe("web,db/0");
  });

  it("--dry-run tells the plan, and other events of other Directors", async () => {
    const step = (stage: string, task: string, state: string) =>
      JSON.stringify({ time: 1, stage, task, state });
    const events = [
      step("Preparing deployment", "Rendering", "started"),
      step("Preparing deployment", "Rendering", "finished"),
      step("Planned, not done", "Creating missing vms", "started"),
      step("Planned, not done", "  db/1 (0): create", "started"),
      JSON.stringify({ time: 1, type: "warning", message: "old" }),
      "no event",
    ];
    const { heard } = await deployed({ "dry-run": true }, { events });
    expect(heard.lines.slice(3)).toEqual([
      "Preparing deployment: Rendering",
      "<bold>Creating missing vms",
      "  db/1 (0): create",
      "old",
      "Task 42 was a dry run: nothing was changed.",
    ]);
  });

  it("shows the plan to a person before it asks, and deploys without it where nobody is asked", async () => {
    const event = (stage: string, task: string) => JSON.stringify({ time: 1, stage, task, state: "started" });
    const events = [
      event("Preparing deployment", "Rendering"),
      event("Planned, not done", "Create"),
      event("Planned, not done", "  + db/1 (0): new instance; no downtime"),
    ];
    const ours = {
      ...answers,
      "POST /deployments/shop/diff": { diff: DIFF, context: CONTEXT, problems: [] },
    };
    const { heard } = await deployed({}, { events, asks: true, answers: ours });
    expect(heard.lines.slice(3)).toEqual(["<bold>Create", "  + db/1 (0): new instance; no downtime"]);
    expect(heard.requests.slice(2).map(({ query }) => query?.dry_run)).toEqual(["true", undefined]);
    expect((await deployed({}, { events, answers: ours })).heard.requests).toHaveLength(3);
    // Another Director names no problems, and its dry run has no plan.
    expect((await deployed({}, { events, asks: true })).heard.requests).toHaveLength(3);
  });

  it("--verbose asks for each step of a dry run", async () => {
    const { query } = await deployed({ "dry-run": true, verbose: true });
    expect(query).toMatchObject({ dry_run: "true", dry_run_steps: "true" });
  });

  it("--no-redact shows secrets", async () => {
    const { heard } = await deployed({ "no-redact": true });
    expect(heard.requests[1]?.query).toEqual({ redact: "false" });
  });

  it("does nothing without a yes", async () => {
    const { done, heard } = await play({}, { yes: false });
    await expect(done).rejects.toThrow();
    expect(heard.requests).toHaveLength(2);
  });

  it("tells every mistake of the manifest, each once, before it asks, and deploys nothing", async () => {
    const problems = ["a", "b", "c", "d", "e"].map((name) => ({
      code: 40001,
      where: `instance_groups[${name}].stemcell`,
      problem: "it is required and missing",
      fix: "Give it.",
    }));
    const diff = { diff: DIFF, context: CONTEXT, problems };
    const { done, heard } = await play({}, { answers: { ...answers, "POST /deployments/shop/diff": diff } });
    const error = await done.then(
      () => undefined,
      (thrown: Error) => thrown,
    );
    expect(error?.message.split("\n")).toEqual([
      "this cannot be deployed: 5 problems",
      ...problems.map(({ where }) => `- ${where}: it is required and missing. Give it.`),
    ]);
    expect(heard.questions).toEqual([]);
    expect(heard.requests).toHaveLength(2);
  });

  it("says that nothing changes, or why that cannot be said", async () => {
    const same = await deployed(
      {},
      { answers: { ...answers, "POST /deployments/shop/diff": { diff: [], context: CONTEXT } } },
    );
    expect(same.heard.lines[0]).toMatch(/^No changes/);
    const failed = { diff: [], error: "the difference cannot be shown" };
    const { heard, query } = await deployed(
      {},
      { answers: { ...answers, "POST /deployments/shop/diff": failed } },
    );
    expect(heard.notes).toEqual([failed.error]);
    expect(heard.lines).toEqual([]);
    expect(query).toEqual({});
  });

  it.each<[string, string | undefined, string, RegExp]>([
    [
      "another name",
      "shop",
      "name: other",
      /Expected manifest to specify deployment name 'shop' but was 'other'/,
    ],
    ["no -d", undefined, "name: shop", /slipway -d shop deploy \/.*m\.yml/],
    ["no name", "shop", "instance_groups: []", /no manifest: it has no `name`/],
    ["no map", "shop", "- name: shop", /no manifest: it is no map/],
  ])("%s is refused before the Director is asked", async (_, deployment, manifest, words) => {
    const { tools, heard } = scene({ answers, ...(deployment !== undefined && { deployment }) });
    await expect(deploy.run(typedOptionsOf({}, [await file(manifest)]), tools)).rejects.toThrow(words);
    expect(heard.requests).toEqual([]);
  });

  const WITH_URL =
    "{name: shop, releases: [{name: r, version: 1, url: https://x, sha1: abc, stemcell: {os: o, version: 2}}, {name: s, version: 1}]}";
  const releases = (there: readonly string[]) => ({
    answers: {
      ...answers,
      "GET /releases": [{ name: "r", release_versions: there.map((version) => ({ version })) }],
      "GET /releases/r": { jobs: [], packages: [{ name: "p", compiled_packages: [{ stemcell: "o/2" }] }] },
      "POST /releases": 7,
    },
  });
  const uploads = ({ requests }: { readonly requests: readonly ApiRequest[] }) =>
    requests
      .filter(({ path }) => path === "/releases" || path === "/deployments")
      .map(({ method, path, query, body }) => {
        const fix = path === "/releases" && query?.fix === "true" ? " fix" : "";
        return `${method} ${path}${fix}${path === "/releases" && body !== undefined ? ` ${String(body)}` : ""}`;
      });

  it("uploads releases that have a URL and are not there, before anything else", async () => {
    const { done, heard } = await play({}, releases([]), WITH_URL);
    await done;
    const sent = 'POST /releases {"location":"https://x","sha1":"abc"}';
    expect(uploads(heard)).toEqual(["GET /releases", sent, "POST /deployments"]);
    const there = await play({}, releases(["1"]), WITH_URL);
    await there.done;
    expect(uploads(there.heard)).toEqual(["GET /releases", "POST /deployments"]);
    expect(there.heard.lines).toContain("Release 'r/1' for stemcell 'o/2' already exists.");
    const fixed = await play({ "fix-releases": true }, releases(["1"]), WITH_URL);
    await fixed.done;
    expect(uploads(fixed.heard)).toEqual([sent.replace(" {", " fix {"), "POST /deployments"]);
    const skipped = await play({ "skip-upload-releases": true }, releases([]), WITH_URL);
    await skipped.done;
    expect(uploads(skipped.heard)).toEqual(["POST /deployments"]);
  });

  it.each<[string, string, object]>([
    ["for all", "flags: [recreate, fix, unknown]", { recreate: "true", fix: "true" }],
    ["that include it", "{flags: [fix], include: [shop]}", { fix: "true" }],
    ["that include others", "{flags: [fix], include: [other]}", {}],
    ["that exclude it", "{flags: [fix], exclude: [shop]}", {}],
    ["that exclude others", "{flags: [fix], exclude: [other]}", { fix: "true" }],
    ["that contradict themselves", "{flags: [fix], exclude: [other], include: [shop]}", {}],
    ["that cannot be read", "flags: [", {}],
  ])("deploy configs %s", async (_, content, expected) => {
    const { query } = await deployed(
      {},
      { answers: { ...answers, "GET /configs": [{ id: "1", type: "deploy", name: "d", content }] } },
    );
    expect(query).toEqual({ context: JSON.stringify(CONTEXT), ...expected });
  });

  it("a Director without deploy configs is no trouble", async () => {
    const { "GET /configs": _, ...others } = answers;
    expect((await deployed({}, { answers: others })).heard.followed).toEqual([42]);
  });
});
