import { mkdir, writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { systemExec } from "@slipway/kernel/exec";
import { needs } from "@slipway/testkit/needs";
import { packTar } from "modern-tar";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { COMMANDS } from "../commands.ts";
import type { FakeDirector, SeenRequest } from "../testing/fake-director.ts";
import { startLab } from "../testing/lab.ts";
import { runCli } from "../testing/run-cli.ts";

const bosh = process.env.SLIPWAY_BOSH ?? "";

/** Commands that show something. */
const SHOW = `env
env --details
deployments
-d shop deployment
-d shop manifest
-d shop variables
-d shop errands
-d shop snapshots
-d shop run-errand smoke
-d shop run-errand broken
-d shop instances
instances
-d shop instances -i
-d shop instances --ps
-d shop instances --ps --failing
-d shop instances --details --vitals --ps
-d shop vms
vms
-d shop vms --vitals --cloud-properties
disks --orphaned
stemcells
releases
inspect-release shop/1.10
clean-up --dry-run --all
configs
configs --recent=5 --type=cloud
config 8
config --type cloud --name default
cloud-config
runtime-config
cpi-config
orphaned-vms
networks --orphaned
curl /strays
tasks
tasks --recent
tasks -r=7 --all
task 42
task 41
events
event 7
event 6
locks
deployments --column=name --column=Team(s)
cancel-task 43
task 42 --debug
task 42 --result`.split("\n");

/** Commands that change something: what they send is compared. */
const CHANGE = `-d shop delete-deployment
-d shop delete-deployment --force
delete-stemcell bosh-x/1.2+dev.1
orphan-disk d/1
-d shop attach-disk web/0 d-1 --disk-properties=copy
-d shop start
-d shop stop web/0 --hard
-d shop stop web --skip-drain --canaries=1 --max-in-flight=50%
-d shop stop web/0 --no-converge --hard
-d shop restart web
-d shop recreate --fix --dry-run
-d shop recreate web/0 --no-converge --fix
-d shop ignore web/0
-d shop unignore web/0
-d shop run-errand smoke --keep-alive --when-changed
-d shop run-errand smoke --instance web --instance web/0 --instance db/6f1c
-d shop take-snapshot
-d shop take-snapshot web/0
-d shop delete-snapshot s/1
-d shop delete-snapshots
delete-config --type cloud --name default
delete-config 9
-d shop delete-vm vm-1
cancel-tasks
-d shop cancel-tasks --type=update_deployment --type=run_errand --state=processing
update-resurrection on
update-resurrection off
events --before-id 5 --before 2016-05-08 --task 3 --instance web/0 --event-user me --action create --object-type vm --object-name x -d shop
upload-stemcell STEMCELL
upload-stemcell STEMCELL --fix
upload-stemcell https://example.com/s.tgz --sha1 abc --name n --version 1
delete-release shop
delete-release shop/1.10+dev.1 --force
clean-up
clean-up --all --keep-orphaned-disks
clean-up --dry-run --keep-orphaned-disks
upload-release https://example.com/r.tgz --sha1 abc --name n --version 1
upload-release https://example.com/r.tgz --sha1 abc --name shop --version 1.10
upload-release https://example.com/r.tgz --name shop --version 1.10 --stemcell ubuntu-jammy/1.785
upload-release https://example.com/r.tgz --fix --rebase --name shop --version 1.10
-d shop export-release shop/1.2.0 ubuntu-jammy/1.785 --job web --job db --dir DIR`.split("\n");

describe.runIf(needs("bosh-cli", bosh !== "", "`npm run test:bosh-cli` brings it"))(
  "slipway and bosh",
  () => {
    let lab: FakeDirector;
    let env: Record<string, string>;
    beforeAll(async () => {
      lab = await startLab();
      await mkdir(lab.file("home"));
      env = {
        HOME: lab.file("home"),
        BOSH_ENVIRONMENT: lab.url,
        BOSH_CA_CERT: lab.ca,
        BOSH_CLIENT: "admin",
        BOSH_CLIENT_SECRET: "secret",
      };
      const body = "name: s\nversion: '1.2'\noperating_system: o\nsha1: x\ncloud_properties: {}\n";
      const header = { name: "stemcell.MF", size: body.length, type: "file" as const };
      await writeFile(lab.file("s.tgz"), gzipSync(await packTar([{ header, body }])));
    });
    afterAll(() => lab.close());

    const words = (line: string) =>
      line.split(" ").map((word) => {
        if (word === "DIR") return lab.dir;
        return word === "STEMCELL" ? lab.file("s.tgz") : word;
      });
    const theirs = (argv: readonly string[]) => systemExec(bosh, argv, { env, keep: 1024 * 1024 });
    const ours = (argv: readonly string[]) => runCli(argv, { env });

    it("have all of its commands", async () => {
      const { stdout } = await theirs(["--help"]);
      const listed = stdout.slice(stdout.indexOf("Available commands:"));
      const names = [...listed.matchAll(/^ {2}([a-z][\w-]*) .*?(?:\(aliases: (.*)\))?$/gm)].flatMap(
        ([, name = "", aliases]) => [name, ...(aliases?.split(", ") ?? [])],
      );
      const ours = new Set(COMMANDS.flatMap(({ name, aliases = [] }) => [name, ...aliases]));
      const missing = names.filter((name) => !ours.has(name) && name !== "help");
      expect(missing).toEqual([]);
    });

    it.each(SHOW)("show the same as JSON: %s", async (line) => {
      const argv = [...words(line), "--json"];
      const [their, our] = [await theirs(argv), await ours(argv)];
      const [wanted, got] = [read(their.stdout), read(our.out)];
      expect(got).toEqual(wanted);
      expect(our.code).toBe(their.code);
    });

    it.each(SHOW.filter((line) => !/^task \d+ --|^curl|deployment$|^(instances|vms)$/.test(line)))(
      "show the same on a terminal: %s",
      async (line) => {
        const argv = [...words(line), "--tty", "--no-color"];
        const [their, our] = [await theirs(argv), await ours(argv)];
        // Upstream counts no packages in sections, and its footers have names of its code. The wording of a failure differs.
        const wanted = their.stdout
          .replace("0 packages", "2 packages")
          .replace("1 orphaned_vms", "1 orphaned VM");
        expect(our.out.trimEnd()).toBe(wanted.trimEnd());
      },
    );

    it.each(CHANGE)("send the same: %s", async (line) => {
      const argv = ["-n", ...words(line)];
      lab.seen.length = 0;
      const their = await theirs(argv);
      const wanted = lab.seen.flatMap(essence);
      lab.seen.length = 0;
      const our = await ours(argv);
      expect(lab.seen.flatMap(essence)).toEqual(wanted);
      expect([our.code, our.err]).toEqual([their.code, ""]);
      expect(wanted).not.toEqual([]);
    });
  },
);

interface Printed {
  readonly Tables: unknown;
  readonly Blocks: readonly string[] | null;
}

function read(text: string): object {
  const { Tables, Blocks } = JSON.parse(text) as Printed;
  return { Tables, text: (Blocks ?? []).join("") };
}

/** Upstream asks for more than we do, and leaves a question mark behind a path without a query. */
function essence({ method, url, headers, body }: SeenRequest): unknown[] {
  const [path = "", query = ""] = url.split("?");
  const more = ["/info", "/disks", "/deployments"].includes(path) || path.startsWith("/tasks/");
  if (method === "GET" && more) return [];
  return [{ method, path, query: query.split("&").sort(), type: headers["content-type"], body }];
}
