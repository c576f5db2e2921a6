import { readdir, readFile, writeFile } from "node:fs/promises";
import { eventually } from "@slipway/testkit/eventually";
import { describe, expect, it } from "vitest";
import { manifest } from "./testing/documents.ts";
import { uploadRelease } from "./testing/make-release.ts";
import { canPlay } from "./testing/requirements.ts";
import { openWorld } from "./testing/world.ts";

const GOOD = 'echo made > "$BOSH_INSTALL_TARGET/made"\n';
const RUNS = `#!/bin/bash
mkdir -p /var/vcap/sys/run/flaws
if [ "$1" = stop ]; then kill "$(cat /var/vcap/sys/run/flaws/flaws.pid)"; exit; fi
sleep 100000 < /dev/null > /dev/null 2>&1 &
echo $! > /var/vcap/sys/run/flaws/flaws.pid
`;

/** A job of one process, and a package. */
const flaws = (packaging: string, ctl = RUNS) => ({
  "config/final.yml": "name: flaws\n",
  "config/blobs.yml": "--- {}\n",
  "src/tool/text": "a source\n",
  "packages/tool/spec": "---\nname: tool\nfiles: [tool/*]\n",
  "packages/tool/packaging": packaging,
  "jobs/flaws/spec": "---\nname: flaws\ntemplates: {ctl: bin/ctl}\npackages: [tool]\nproperties: {}\n",
  "jobs/flaws/templates/ctl": ctl,
  "jobs/flaws/monit": `check process flaws
  with pidfile /var/vcap/sys/run/flaws/flaws.pid
  start program "/var/vcap/jobs/flaws/bin/ctl start"
  stop program "/var/vcap/jobs/flaws/bin/ctl stop"
  group vcap
`,
});

describe.runIf(await canPlay())("releases that go wrong, with the real CLI", () => {
  const world = openWorld();
  const groups = [{ name: "app", jobs: [{ name: "flaws", release: "flaws" }] }] as const;
  const release = (packaging: string, ctl?: string) => uploadRelease(world(), "flaws", flaws(packaging, ctl));
  const refused = async () =>
    (
      await world().bosh.refused("-d", "shop", "deploy", await world().manifest("shop", ...groups))
    ).replaceAll(/\s+/g, " ");
  /** Lists the VMs of the cloud, whether or not the Director knows them. */
  const vms = () => readdir(world().cloud("vms"));

  it("a package that cannot be compiled is named, with the last lines of what it said; its VM is gone", async () => {
    await world().seed();
    await release("echo half made\necho cannot go on >&2\nexit 3\n");
    const text = await refused();
    expect(text).toContain("package 'tool' of release 'flaws/0+dev.1' could not be compiled");
    for (const word of ["exited with 3", "half made", "cannot go on"]) expect(text).toContain(word);
    expect(await vms()).toEqual([]);
  });

  it("one that never ends is ended by cancelling the task, with its VM", async () => {
    await release("echo waiting\nsleep 100000\n");
    const deploy = world().bosh.say("-d", "shop", "deploy", await world().manifest("shop", ...groups));
    await eventually("the package is being compiled", async () => {
      const files = await readdir(world().cloud("vms"), { recursive: true });
      const log = files.find((file) => file.endsWith("compilation/packaging.stdout.log"));
      const text = log && (await readFile(world().cloud("vms", log), "utf8"));
      return text === "waiting\n" || undefined;
    });
    const [{ id = "" } = {}] = await world().bosh.rows("tasks");
    await world().bosh.run("cancel-task", id);
    expect(await deploy).toMatchObject({ code: 1 });
    expect(await world().bosh.rows("tasks", "--recent=1")).toMatchObject([{ state: "cancelled" }]);
    expect(await vms()).toEqual([]);
  });

  it("a job that never starts is named, with the last lines of its log; what is mended is deployed", async () => {
    await release(GOOD, "#!/bin/bash\necho no door here >> /var/vcap/sys/log/flaws/ctl.log\nexit 1\n");
    const base = manifest("shop", ...groups) as { readonly update: object };
    const update = { ...base.update, canary_watch_time: "10-1500", update_watch_time: "10-1500" };
    const file = await world().file("soon.yml", { ...base, update });
    const said = async () =>
      (await world().bosh.refused("-d", "shop", "deploy", file)).replaceAll(/\s+/g, " ");
    // The time it is given may be over before the start has failed.
    await expect
      .poll(said)
      .toMatch(
        /'app\/\S+ \(0\)' is not running after update\. Review logs for failed jobs: flaws.*flaws of the job flaws failed to start: .*ctl\.log: .*no door here/,
      );
    await release(GOOD);
    const { blocks } = await world().deploy("shop", groups);
    expect(blocks).not.toContain("Compiling packages");
    expect(await vms()).toHaveLength(1);
    expect(await world().instances("shop")).toMatchObject([{ process_state: "running" }]);
  });

  it("a compiled package that is damaged where the Director keeps it is told, and mended by --fix", async () => {
    const blobs = await readdir(world().state("blobs"));
    for (const name of blobs) {
      const bytes = await readFile(world().state("blobs", name));
      if (name.startsWith("release-"))
        await writeFile(
          world().state("blobs", name),
          bytes.map((byte) => ~byte),
        );
    }
    expect(await world().bosh.refused("-d", "shop", "recreate")).toContain("upload-release --fix");
    await world().bosh.run("upload-release", "--fix", `${world().dir}/flaws.tgz`);
    const { blocks } = await world().deploy("shop", groups, "--recreate");
    expect(blocks).toContain("Compiling packages: tool/");
    expect(await world().instances("shop")).toMatchObject([{ process_state: "running" }]);
    expect(await vms()).toHaveLength(1);
  });
});
