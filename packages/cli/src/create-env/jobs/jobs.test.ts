import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { RenderingFailed } from "@slipway/engine/templates/errors";
import { rubyFile } from "@slipway/engine/templates/ruby-module";
import { type MadeRelease, releaseTarball } from "@slipway/testkit/release-tarball";
import { plays } from "@slipway/testkit/stories";
import { describe, expect, it } from "vitest";
import { JobUnknown } from "../errors.ts";
import { RELEASE, started } from "../testing/counter-release.ts";
import { EnvLab } from "../testing/env-lab.ts";
import { builtPrograms } from "../testing/programs.ts";

const programs = builtPrograms();

async function openLab(release: MadeRelease = RELEASE): Promise<EnvLab> {
  const lab = await EnvLab.open({ ...programs(), ruby: rubyFile(import.meta.url) });
  await lab.stemcell();
  await writeFile(join(lab.dir, "app.tgz"), await releaseTarball(release));
  return lab;
}

function manifest(lab: EnvLab, properties: object, job = "counter"): Record<string, unknown> {
  const plain = lab.manifest() as { instance_groups: object[] };
  const [group] = plain.instance_groups;
  return {
    ...plain,
    releases: [{ name: "app", url: "file://app.tgz" }],
    instance_groups: [{ ...group, jobs: [{ name: job, release: "app" }], properties }],
  };
}

const logOf = async (lab: EnvLab) => ((await lab.read("log")) ?? "").trim().split("\n");

describe("create-env with a release", () => {
  it.runIf(plays("environment", "jobs"))(
    "compiles its packages on the VM, runs its job there, and drains it before the VM is replaced",
    async () => {
      const lab = await openLab();
      const first = await lab.create(manifest(lab, {}));
      expect(first).toContain("Validating release 'app'... Finished");
      expect(first).toContain("Rendering job templates... Finished");
      expect(first).toMatch(/Compiling package 'base\/\w+'\.\.\. Finished/);
      expect(await logOf(lab)).toEqual(started("hi", lab.ip));
      expect((await lab.document()).releases).toMatchObject([{ name: "app", version: "1" }]);

      const unchanged = await lab.create(manifest(lab, {}));
      expect(unchanged).toContain("Skipping deploy");
      expect(unchanged).not.toContain("Rendering job templates");

      await lab.create(manifest(lab, { greeting: "hello" }));
      expect(await logOf(lab)).toEqual([
        ...started("hi", lab.ip),
        "drain",
        "ctl stop",
        ...started("hello", lab.ip),
      ]);
      await lab.delete(manifest(lab, {}));
      expect(await lab.processes()).toEqual([]);
    },
  );

  it("says what is wrong with all its templates before a VM is made", async () => {
    const { counter } = RELEASE.jobs;
    if (counter === undefined) throw new Error("unreachable");
    const broken = { ...counter.templates, ctl: '<%= p("no.such") %>', drain: "\n<%= p('port') %>" };
    const lab = await openLab({ ...RELEASE, jobs: { counter: { ...counter, templates: broken } } });
    const failure = await lab.create(manifest(lab, {})).catch((error: unknown) => error);
    expect(RenderingFailed.is(failure)).toBe(true);
    expect(String(failure)).toContain("Error filling in template 'ctl' for counter/0 (line 1: ");
    expect(String(failure)).toContain("Error filling in template 'drain' for counter/0 (line 2: ");
    expect(String(failure)).toContain("Can't find property 'port'");
    expect(await lab.vms()).toEqual([]);
  });

  it("names the jobs there are when the manifest wants another", async () => {
    const lab = await openLab();
    const failure = await lab.create(manifest(lab, {}, "caunter")).catch((error: unknown) => error);
    expect(JobUnknown.is(failure)).toBe(true);
    expect(String(failure)).toContain("it has counter");
  });
});

describe("create-env with a CPI out of a release", () => {
  it.runIf(plays("environment", "CPI of a release"))(
    "compiles and installs it, makes the VM with it, and deletes the VM with it",
    async () => {
      const lab = await openLab();
      const cpi: MadeRelease = {
        name: "our-cpi",
        version: "1",
        packages: {
          our_cpi: {
            files: {
              packaging: 'set -e\ncp run "$BOSH_INSTALL_TARGET/run"\nchmod +x "$BOSH_INSTALL_TARGET/run"\n',
              run: `#!/bin/bash\nexec ${process.execPath} ${programs().cpi} --configFile "$1"\n`,
            },
          },
        },
        jobs: {
          our_cpi: {
            spec: {
              templates: { cpi: "bin/cpi", "cpi.json.erb": "config/cpi.json" },
              packages: ["our_cpi"],
              properties: { "local.dir": {}, "local.agent": {} },
            },
            monit: "",
            templates: {
              cpi: '#!/bin/bash\nexec "$BOSH_PACKAGES_DIR/our_cpi/run" "$BOSH_JOBS_DIR/our_cpi/config/cpi.json"\n',
              "cpi.json.erb":
                '<%= JSON.dump("local" => { "dir" => p("local.dir"), "agent" => p("local.agent") }) %>',
            },
          },
        },
      };
      await writeFile(join(lab.dir, "cpi.tgz"), await releaseTarball(cpi));
      const plain = manifest(lab, {}) as { releases: object[] };
      const document = {
        ...plain,
        releases: [...plain.releases, { name: "our-cpi", url: "file://cpi.tgz" }],
        cloud_provider: {
          template: { name: "our_cpi", release: "our-cpi" },
          properties: { local: { dir: lab.cloud, agent: programs().agent } },
        },
      };
      const said = await lab.create(document);
      expect(said).toContain("Started installing CPI");
      expect(said).toContain("Installing job 'our_cpi'... Finished");
      expect(await logOf(lab)).toEqual(started("hi", lab.ip));
      expect(await lab.create(document)).toContain("Skipped [Package already compiled]");
      await lab.delete(document);
      expect([await lab.vms(), await lab.disks(), await lab.stemcells()]).toEqual([[], [], []]);
    },
  );
});
