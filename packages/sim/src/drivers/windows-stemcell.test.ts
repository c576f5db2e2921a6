import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { listStemcells } from "@slipway/director/store/stemcells";
import { tarBytes } from "@slipway/kernel/tar/write";
import type { MadeRelease } from "@slipway/testkit/release-tarball";
import { describe, expect, it } from "vitest";
import { taskOf } from "../crash/scenarios/tasks.ts";
import { count, jobsStage } from "./testing/jobs-stage.ts";
import type { Interference, OutsideCall } from "./watch-clients.ts";

const { stage, run, done, upload, task, whole } = jobsStage();

const NAME = "bosh-sim-windows2019-go_agent";
const VERSION = "2019.71";
const PROPERTIES = { ami: { "sim-east-1": "ami-0fake" }, disk: 30720 };

/** A light stemcell: its image is an empty file, its properties name one that the cloud has. */
async function uploadStemcell(formats: string) {
  const manifest = [
    `name: ${NAME}`,
    `version: '${VERSION}'`,
    "bosh_protocol: 1",
    "operating_system: windows2019",
    `sha1: ${createHash("sha1").update("").digest("hex")}`,
    "api_version: 3",
    `stemcell_formats: [${formats}]`,
    `cloud_properties: ${JSON.stringify(PROPERTIES)}`,
    "",
  ].join("\n");
  const file = (name: string, text: string) => ({ type: "text" as const, name, mode: 0o644, text });
  const path = join(stage.bench.uploadsDir, "windows.tgz");
  await writeFile(
    path,
    gzipSync(await buffer(tarBytes([file("stemcell.MF", manifest), file("image", "")], 0))),
  );
  return await run(taskOf("update_stemcell", { path, fix: false }));
}

/** A release for Windows: PowerShell everywhere, and the processes of a job are JSON in `monit`. */
const RELEASE: MadeRelease = {
  name: "shop",
  version: "2",
  jobs: {
    web: {
      spec: {
        templates: { "pre-start.ps1": "bin/pre-start.ps1", "web.ps1": "bin/web.ps1" },
        packages: ["server"],
        properties: { port: { default: 80 } },
      },
      monit: JSON.stringify({
        processes: [{ name: "web", executable: "powershell.exe", args: ["/var/vcap/jobs/web/bin/web.ps1"] }],
      }),
      templates: { "pre-start.ps1": "Write-Host prepared", "web.ps1": "Start-Web" },
    },
  },
  packages: { server: { files: { packaging: "$ErrorActionPreference = 'Stop'" } } },
};

/** The messages of upstream's agent, which is the one that Windows stemcells have. */
const UPSTREAM = new Set([
  ...["ping", "info", "get_state", "get_task", "cancel_task", "ssh", "shutdown", "update_settings"],
  ...["apply", "prepare", "start", "stop", "drain", "run_script", "run_errand", "release_apply_spec"],
  ...[
    "list_disk",
    "mount_disk",
    "unmount_disk",
    "migrate_disk",
    "add_persistent_disk",
    "remove_persistent_disk",
  ],
  ...["compile_package", "compile_package_with_signed_url", "upload_blob", "remove_file", "associate_disks"],
  ...["fetch_logs", "fetch_logs_with_signed_url", "bundle_logs", "sync_dns", "sync_dns_with_signed_url"],
  ...["delete_arp_entries", "get_blob", "put_blob"],
]);

function foreignAgent() {
  const refused: string[] = [];
  const interference: Interference = {
    ask: (call) => {
      if (UPSTREAM.has(call.method)) return undefined;
      refused.push(call.method);
      return Promise.resolve({ exception: `unknown message ${call.method}` });
    },
  };
  return { interference, refused };
}

const windows = () =>
  task(
    [{ name: "web", instances: 1, jobs: [{ name: "web", release: "shop" }] }],
    {},
    {
      os: "windows2019",
      stemcell: VERSION,
    },
  );

const argumentsOf = (calls: readonly OutsideCall[], wanted: string) =>
  calls.flatMap((call) => (call.peer === "cpi" && call.method === wanted ? [call.request.arguments] : []));

describe("a light Windows stemcell", () => {
  it("is uploaded with its empty image, and its properties go to the CPI as they are", async () => {
    const ended = await uploadStemcell("aws-light, general-light");
    expect(`${ended.state} ${ended.message}`).toBe("done ");
    const [[image, properties] = []] = argumentsOf(ended.calls, "create_stemcell");
    expect([typeof image, properties]).toEqual(["string", PROPERTIES]);
    expect(await listStemcells(stage.bench.db, { name: NAME })).toMatchObject([
      { version: VERSION, operatingSystem: "windows2019", apiVersion: 3 },
    ]);
  });

  it("is refused where no CPI takes its format", async () => {
    const { state, message } = await uploadStemcell("vsphere-ova");
    expect(state).toBe("error");
    expect(message).toMatch(/vsphere-ova|format/);
    expect(await listStemcells(stage.bench.db, { name: NAME })).toEqual([]);
  });

  it("compiles packages and runs jobs by its operating system, with an agent that is not ours", async () => {
    await uploadStemcell("general-light");
    await upload(RELEASE);
    const { interference, refused } = foreignAgent();
    const ended = await done(windows(), { interference });
    expect(refused).toEqual([]);
    const [{ cid } = { cid: "" }] = await listStemcells(stage.bench.db, { name: NAME });
    const made = argumentsOf(ended.calls, "create_vm");
    expect(made.map(([, stemcell]) => stemcell)).toEqual([cid, cid]);
    expect(count(ended, "compile_package") + count(ended, "compile_package_with_signed_url")).toBe(1);
    expect([...stage.bench.world.vms.values()].map(({ stemcell }) => stemcell)).toEqual([cid]);
    expect(await whole()).toEqual([]);
    const again = await done(windows(), { interference });
    expect(again.changing).toEqual([]);
  });

  it("gets packages of its own: those compiled for Linux are not given to it", async () => {
    await upload(RELEASE);
    const groups = [{ name: "web", instances: 1, jobs: [{ name: "web", release: "shop" }] }];
    await done(task(groups));
    await uploadStemcell("general-light");
    const { interference } = foreignAgent();
    const ended = await done(windows(), { interference });
    expect(count(ended, "compile_package") + count(ended, "compile_package_with_signed_url")).toBe(1);
  });
});
