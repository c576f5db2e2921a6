import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { describe, expect, it, onTestFinished } from "vitest";
import { apply } from "../actions/apply.ts";
import { prepare } from "../actions/prepare.ts";
import { NameTaken, NotInstalled, SpecUnusable } from "../bundles/errors.ts";
import { restoreJobs } from "./switch.ts";
import { archiveOf, callOf, labServices, sha1, specOf, treeOf } from "./testing/lab.ts";

sampleTests(1 / 3);

const WEB = {
  monit: "check process web",
  "bin/ctl": "#!/bin/sh",
  "bin/sub/x": "x",
  "config/web.yml": "a: 1",
};

async function lab() {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const services = await labServices(path);
  return { services, paths: services.paths, call: callOf(services) };
}

const modeOf = async (path: string) => ((await stat(path)).mode & 0o7777).toString(8);

describe("apply with jobs", () => {
  it("lays out jobs, packages, links and directories with upstream's names and modes", async () => {
    const { services, paths, call } = await lab();
    const spec = await specOf(services, {
      jobs: { web: WEB },
      packages: { ruby: { "!bin/ruby": "ruby", "lib>bin": "", "abs>/var/vcap/packages/x": "" } },
    });
    expect(await apply({ spec }, call)).toBe("applied");
    const archive = spec.rendered_templates_archive?.sha1 ?? "";
    const job = join(paths.dataJobs, "web", sha1(`v1-${archive}`));
    const ruby = join(paths.dataPackages, "ruby", sha1(`1.1-${spec.packages?.ruby?.sha1 ?? ""}`));
    expect(await readlink(join(paths.jobs, "web"))).toBe(job);
    expect(await readlink(join(paths.packages, "ruby"))).toBe(ruby);
    expect(await readlink(join(job, "packages", "ruby"))).toBe(ruby);
    expect(treeOf(job)).toEqual({
      "/": "750",
      "bin/": "750",
      "bin/ctl": "750 #!/bin/sh",
      "bin/sub/": "750",
      "bin/sub/x": "750 x",
      "config/": "750",
      "config/web.yml": "640 a: 1",
      monit: "640 check process web",
      "packages/": "750",
      "packages/ruby": `-> ${ruby}`,
    });
    expect(treeOf(ruby)).toEqual({
      "/": "755",
      "bin/": "755",
      "bin/ruby": "755 ruby",
      lib: "-> bin",
      abs: "-> /var/vcap/packages/x",
    });
    for (const own of [join(paths.sysLog, "web"), join(paths.sysRun, "web"), join(paths.data, "web")])
      expect(await modeOf(own)).toBe("770");
    expect(await services.spec.load()).toEqual(spec);
    expect(await readFile(join(paths.instanceDir, "deployment"), "utf8")).toBe("shop");
    expect(existsSync(paths.applying)).toBe(false);
    // The archive may hold secrets; packages are the blobstore's.
    expect(await readdir(paths.sensitiveBlobs)).toEqual([]);
    expect(await readdir(paths.blobs)).toHaveLength(1);
  });

  it("reads archives with and without a leading ./ as the same tree", async () => {
    const trees = [];
    for (const prefix of ["", "./"]) {
      const { services, paths, call } = await lab();
      await apply({ spec: await specOf(services, { jobs: { web: WEB, worker: WEB }, prefix }) }, call);
      for (const job of ["web", "worker"]) trees.push(treeOf(await readlink(join(paths.jobs, job))));
    }
    for (const tree of trees) expect(tree).toEqual(trees[0]);
    expect(trees[0]).toHaveProperty("bin/ctl");
  });

  it("removes links and versions that the next spec does not name, and keeps links of others", async () => {
    const { services, paths, call } = await lab();
    const packages = { ruby: { a: "1" }, go: { b: "2" } };
    await apply({ spec: await specOf(services, { jobs: { web: WEB, worker: WEB }, packages }) }, call);
    await writeFile(join(paths.sysLog, "web", "web.log"), "kept");
    await symlink("/elsewhere", join(paths.jobs, "theirs"));
    const next = await specOf(services, {
      jobs: { web: { ...WEB, monit: "new" } },
      packages: { go: { b: "2" } },
    });
    await apply({ spec: next }, call);
    expect(await readdir(paths.jobs)).toEqual(["theirs", "web"]);
    expect(await readdir(paths.packages)).toEqual(["go"]);
    expect(await readdir(paths.dataJobs)).toEqual(["web"]);
    expect(await readdir(join(paths.dataJobs, "web"))).toHaveLength(1);
    expect(await readdir(paths.dataPackages)).toEqual(["go"]);
    expect(await readdir(join(paths.jobs, "web", "packages"))).toEqual(["go"]);
    expect(await readFile(join(paths.jobs, "web", "monit"), "utf8")).toBe("new");
    expect(await readFile(join(paths.sysLog, "web", "web.log"), "utf8")).toBe("kept");
  });

  it("changes no jobs without a configuration hash", async () => {
    const { services, paths, call } = await lab();
    await apply({ spec: await specOf(services, { jobs: { web: WEB } }) }, call);
    const before = treeOf(paths.dataJobs);
    await apply({ spec: { deployment: "shop", networks: {} } }, call);
    expect(treeOf(paths.dataJobs)).toEqual(before);
    expect(await readlink(join(paths.jobs, "web"))).toContain(paths.dataJobs);
    expect(await services.spec.load()).toEqual({ deployment: "shop", networks: {} });
  });

  it.each([null, { blobstore_id: "", sha1: "" }])("has no jobs when the archive is %j", async (archive) => {
    const { services, paths, call } = await lab();
    const spec = await specOf(services, { jobs: { web: WEB } });
    expect(await apply({ spec: { ...spec, rendered_templates_archive: archive } }, call)).toBe("applied");
    expect(await readdir(paths.jobs)).toEqual([]);
  });

  it("fetches nothing again after prepare", async () => {
    const { services, paths, call } = await lab();
    const spec = await specOf(services, { jobs: { web: WEB }, packages: { ruby: { a: "1" } } });
    expect(await prepare({ spec }, call)).toBe("prepared");
    expect(await readdir(paths.jobs)).toEqual([]);
    expect(await services.spec.load()).toBeUndefined();
    expect(await readdir(paths.sensitiveBlobs)).toEqual([]);
    await writeFile(join(paths.blobs, spec.packages?.ruby?.blobstore_id ?? ""), "gone bad");
    expect(await apply({ spec }, call)).toBe("applied");
    expect(await readFile(join(paths.jobs, "web", "packages", "ruby", "a"), "utf8")).toBe("1");
  });

  it("installs a job once that the spec names twice", async () => {
    const { services, paths, call } = await lab();
    const spec = await specOf(services, { jobs: { web: WEB } });
    const templates = [...(spec.job?.templates ?? []), ...(spec.job?.templates ?? [])];
    expect(await apply({ spec: { ...spec, job: { ...spec.job, templates } } }, call)).toBe("applied");
    expect(await readdir(join(paths.jobs, "web"))).toContain("monit");
  });

  it("works in an image that has no program to settle a whole file system", async () => {
    const { services, paths } = await lab();
    const exec = () => Promise.reject(new Error("the program sync cannot be started"));
    const spec = await specOf(services, { jobs: { web: WEB }, packages: { ruby: { "bin/a": "1" } } });
    expect(await apply({ spec }, callOf({ ...services, exec }))).toBe("applied");
    expect(await readFile(join(paths.jobs, "web", "packages", "ruby", "bin", "a"), "utf8")).toBe("1");
  });

  it("tells the supervisor to watch nothing before it switches links", async () => {
    const { services, paths, call } = await lab();
    await apply({ spec: await specOf(services, { jobs: { web: WEB } }) }, call);
    const seen: string[] = [];
    const supervisor = {
      ...services.supervisor,
      watch: async (files: readonly unknown[]) => {
        expect(files).toEqual([]);
        seen.push(await readFile(join(paths.jobs, "web", "monit"), "utf8"));
      },
    };
    const spec = await specOf(services, { jobs: { web: { monit: "new" } } });
    await apply({ spec }, callOf({ ...services, supervisor }));
    expect(seen).toEqual(["check process web"]);
  });
});

describe("an apply that fails", () => {
  const failing = async (what: "package" | "templates", spoil: (blob: string) => Promise<void>) => {
    const { services, paths, call } = await lab();
    await apply(
      { spec: await specOf(services, { jobs: { web: WEB }, packages: { ruby: { a: "1" } } }) },
      call,
    );
    const before = treeOf(paths.base);
    const spec = await specOf(services, { jobs: { web: { monit: "2" } }, packages: { ruby: { a: "2" } } });
    const blob =
      what === "package"
        ? join(paths.blobs, spec.packages?.ruby?.blobstore_id ?? "")
        : join(paths.sensitiveBlobs, spec.rendered_templates_archive?.blobstore_id ?? "");
    const good = await readFile(blob);
    await spoil(blob);
    const failure = await apply({ spec }, call).catch((error: unknown) => error);
    expect(NotInstalled.is(failure), String(failure)).toBe(true);
    await writeFile(blob, good);
    const left = Object.entries(treeOf(paths.base)).filter(
      ([name, content]) => before[name] !== content && !/blobs\//.test(name),
    );
    expect(left).toEqual([]);
    expect(await apply({ spec }, call)).toBe("applied");
    expect(await readFile(join(paths.jobs, "web", "packages", "ruby", "a"), "utf8")).toBe("2");
    return String(failure);
  };

  it.each([
    ["package", "Preparing package ruby: "],
    ["templates", "Preparing job web: "],
  ] as const)(
    "because the blob of its %s was damaged at rest says whose, leaves all as it was, and works the next time",
    async (what, named) => {
      const failure = await failing(what, (blob) => writeFile(blob, "damaged"));
      expect(failure).toContain(named);
      expect(failure).toContain("is not what was announced");
    },
  );

  it("replaces nothing if a directory has the name of a link", async () => {
    const { services, paths, call } = await lab();
    await mkdir(join(paths.jobs, "web"));
    await writeFile(join(paths.jobs, "web", "mine"), "kept");
    const failure = await apply({ spec: await specOf(services, { jobs: { web: WEB } }) }, call).catch(
      (e: unknown) => e,
    );
    expect(NameTaken.is(failure)).toBe(true);
    expect(await readFile(join(paths.jobs, "web", "mine"), "utf8")).toBe("kept");
  });

  it("names the job that is missing from the archive", async () => {
    const { services, call } = await lab();
    const spec = await specOf(services, { jobs: { web: WEB } });
    const templates = [...(spec.job?.templates ?? []), { name: "other", version: "v1" }];
    await expect(apply({ spec: { ...spec, job: { ...spec.job, templates } } }, call)).rejects.toThrow(
      "the job other is not in it",
    );
  });

  it.each([
    [{ name: "../x", version: "v1" }, "cannot be named"],
    [{ name: "web", version: "" }, "has no version"],
  ])("is refused before anything is fetched for the job %j", async (template, why) => {
    const { services, call } = await lab();
    const spec = await specOf(services, { jobs: { web: WEB } });
    const failure = await apply({ spec: { ...spec, job: { templates: [template] } } }, call).catch(
      (e: unknown) => e,
    );
    expect(SpecUnusable.is(failure)).toBe(true);
    expect(String(failure)).toContain(why);
  });

  it("installs neither a hostile package nor the jobs", async () => {
    const { services, paths, call } = await lab();
    const spec = await specOf(services, { jobs: { web: WEB } });
    const content = await archiveOf({ "../../../jobs/evil": "x" });
    await services.blobs.write("blobs", "evil", content);
    const evil = { name: "evil", version: "1", sha1: sha1(content), blobstore_id: "evil" };
    await expect(apply({ spec: { ...spec, packages: { evil } } }, call)).rejects.toThrow(
      "leads out of the archive",
    );
    expect(await readdir(paths.jobs)).toEqual([]);
    expect(await readdir(paths.dataJobs)).toEqual([]);
    expect(await readdir(paths.dataPackages)).toEqual([]);
  });
});

describe("the start of the agent", () => {
  it("makes the directories of the applied jobs again and removes what was half unpacked", async () => {
    const { services, paths, call } = await lab();
    await apply({ spec: await specOf(services, { jobs: { web: WEB } }) }, call);
    await rm(join(paths.sysRun, "web"), { recursive: true });
    await mkdir(join(paths.dataPackages, ".unfinished-1", "x"), { recursive: true });
    await restoreJobs(services);
    expect(await modeOf(join(paths.sysRun, "web"))).toBe("770");
    expect(await readdir(paths.dataPackages)).toEqual([]);
  });
});
