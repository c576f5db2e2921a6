import { join } from "node:path";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Command } from "../command.ts";
import { scene } from "../deploy/testing/fakes.ts";
import { typedOptionsOf } from "../interpolate/testing/typed-options.ts";
import { stemcellBuild } from "./stemcell-build.ts";
import { stemcellInspect } from "./stemcell-inspect.ts";
import { stemcellRepack } from "./stemcell-repack.ts";

let dir: string;
let remove: () => Promise<void>;
beforeEach(async () => {
  ({ path: dir, remove } = await temporaryDirectory());
});
afterEach(() => remove());

/** The row a command prints, by its keys. */
async function row(command: Command, ...given: Parameters<typeof typedOptionsOf>) {
  const { tools, heard } = scene({});
  expect(await command.run(typedOptionsOf(...given), tools)).toBe(0);
  const [table] = heard.tables;
  return Object.fromEntries(Object.keys(table?.header ?? {}).map((key, at) => [key, table?.rows[0]?.[at]]));
}

describe("stemcell build, inspect and repack", () => {
  it("make a file, show it, and make another of it", async () => {
    const [one, two] = [join(dir, "one.tgz"), join(dir, "two.tgz")];
    const built = await row(stemcellBuild, { out: one, "api-version": "2" });
    expect(built).toMatchObject({
      file: one,
      api_version: "2",
      sha1: expect.stringMatching(/^[0-9a-f]{40}$/),
    });
    expect(await row(stemcellInspect, {}, [one])).toMatchObject({
      ...{
        name: "slipway-local",
        os: "local",
        version: "1.0",
        infrastructure: "local",
        hypervisor: "sandbox",
      },
      ...{ api_version: "2", formats: "slipway-local", kind: "heavy" },
    });
    await row(stemcellRepack, { version: "2", "empty-image": true, format: ["a", "b"] }, [one, two]);
    expect(await row(stemcellInspect, {}, [two])).toMatchObject({
      ...{ version: "2", kind: "light", image_size: "0 B", formats: "a, b" },
    });
  });

  it.each<[NonNullable<Parameters<typeof typedOptionsOf>[0]>, string]>([
    [{ for: "aws" }, "CLS-004"],
    [{ for: "docker", "from-root": "/" }, "CLS-005"],
    [{ for: "docker", "from-image": "thing:1" }, "CLS-009"],
    [{ for: "docker", "from-image": `thing@sha256:${"0".repeat(64)}`, "root-only": true }, "CLS-005"],
    [{ "from-host": true }, "CLS-005"],
    [{ for: "docker", "from-host": true, suite: "bookworm" }, "CLS-005"],
    [{ for: "docker", "from-host": true, "from-image": `thing@sha256:${"0".repeat(64)}` }, "CLS-005"],
    [{ suite: "bookworm" }, "CLS-005"],
    [{ package: ["curl"] }, "CLS-005"],
    [{ "api-version": "two" }, "CLS-005"],
    [{ "api-version": "0" }, "CLS-005"],
    [{ name: "two words" }, "CLS-005"],
  ])("build with %j is refused", async (options, code) => {
    const { tools } = scene({});
    const run = stemcellBuild.run(typedOptionsOf({ out: join(dir, "s.tgz"), ...options }), tools);
    await expect(run).rejects.toMatchObject({ code });
  });
});
