import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { addressOctet } from "@slipway/testkit/address-octet";
import { awsSite, hasMoto } from "@slipway/testkit/aws-cloud";
import { bundled } from "@slipway/testkit/bundle";
import { DockerCloud, engineTrouble, manual } from "@slipway/testkit/docker-cloud";
import { testImage } from "@slipway/testkit/docker-image";
import { writeConfig } from "@slipway/testkit/executable";
import { holdMachine } from "@slipway/testkit/hold-machine";
import { LocalCloud, nextAddress, sandboxTrouble } from "@slipway/testkit/local-cloud";
import { needs } from "@slipway/testkit/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CPI_RULES } from "../rules/catalogue.ts";
import { passesChecks } from "../testing/passes-checks.ts";
import type { CpiGiven } from "./check.ts";
import { ResourceTracker } from "./resource-tracker.ts";
import { CPI_CHECKS } from "./run.ts";

interface Opened {
  readonly given: Omit<CpiGiven, "uuid">;
  readonly close: () => Promise<void>;
}

const exec = (path: string, configFile: string) => ({
  path,
  configFile,
  clock: systemClock,
  deadlineMs: 60_000,
});

/** The same checks for every CPI. What is not run is said beforehand. */
function keepsTheContract(name: string, open: () => Promise<Opened>, without: readonly number[] = []): void {
  let opened: Opened;
  let cloud: ResourceTracker;
  beforeAll(async () => {
    opened = await open();
    cloud = new ResourceTracker({ ...opened.given, uuid: () => systemRandom.uuid() });
  });
  afterAll(async () => {
    await cloud.close();
    await opened.close();
  });

  passesChecks(name, () => cloud, without);
}

it("every rule has one check, which runs once", () => {
  expect(CPI_CHECKS.map(({ id }) => id).sort()).toEqual(Object.keys(CPI_RULES).sort());
});

it("no two rules have the same title", () => {
  expect(new Set(CPI_CHECKS.map(({ rule }) => rule.title)).size).toBe(CPI_CHECKS.length);
});

describe("the tiny CPI keeps the contract:", () => {
  const path = bundled("../../../../examples/tiny-cpi/src/main.ts", import.meta.url);
  keepsTheContract("tiny", async () => {
    const dir = await mkdtemp(join(tmpdir(), "slipway-contract-"));
    await writeFile(join(dir, "image"), "an image\n");
    return {
      given: {
        cpi: exec(path(), await writeConfig(dir, { tiny: { dir } })),
        stemcell: { image: join(dir, "image"), cloudProperties: {} },
        vmProperties: {},
        networks: (n) => ({ private: manual(`10.0.0.${n + 10}`) }),
      },
      close: () => rm(dir, { recursive: true, force: true }),
    };
    // Methods the contract lets it do without.
  }, [56, 61, 62, 64]);
});

const noSandbox = await sandboxTrouble();
describe.runIf(needs("userns", noSandbox === undefined, noSandbox))(
  "the local CPI keeps the contract:",
  () => {
    const path = bundled("../../../cpi-local/src/main.ts", import.meta.url);
    keepsTheContract("local", async () => {
      const local = await LocalCloud.open();
      await writeFile(join(local.dir, "image"), "");
      return {
        given: {
          cpi: exec(path(), await writeConfig(local.dir, { local: local.config })),
          stemcell: { image: join(local.dir, "image"), cloudProperties: {} },
          vmProperties: {},
          networks: () => ({ private: manual(nextAddress()) }),
          around: async (method, call) => {
            const release = ["create_vm", "reboot_vm"].includes(method)
              ? await holdMachine()
              : async () => {};
            return await call().finally(release);
          },
        },
        close: () => local.close(),
      };
    });
  },
);

const noEngine = await engineTrouble();
describe.runIf(needs("docker", noEngine === undefined, noEngine))(
  "the Docker CPI keeps the contract:",
  () => {
    const path = bundled("../../../cpi-docker/src/main.ts", import.meta.url);
    const range = `10.218.${addressOctet()}`;
    keepsTheContract("docker", async () => {
      const docker = await DockerCloud.open();
      const agent = { mbus: "https://mbus:s3cret@0.0.0.0:6868" };
      return {
        given: {
          cpi: exec(path(), await writeConfig(docker.dir, { docker: docker.config, agent })),
          stemcell: { image: await testImage(), cloudProperties: {} },
          vmProperties: {},
          networks: (n) => ({ private: manual(`${range}.${(n % 240) + 10}`) }),
        },
        close: () => docker.close(),
      };
    });
  },
);

describe.runIf(hasMoto())("the AWS CPI keeps the contract:", () => {
  const path = bundled("../../../cpi-aws/src/main.ts", import.meta.url);
  const site = awsSite();
  keepsTheContract("aws", async () => {
    const dir = await mkdtemp(join(tmpdir(), "slipway-contract-"));
    const { config, image, subnet } = site();
    const agent = { mbus: "https://mbus:s3cret@0.0.0.0:6868" };
    return {
      given: {
        cpi: exec(path(), await writeConfig(dir, { aws: config, agent })),
        stemcell: { image: "/none", cloudProperties: { ami: { "us-east-1": image } } },
        vmProperties: { instance_type: "m5.large" },
        networks: (n) => ({
          private: { ...manual(`10.0.1.${(n % 200) + 10}`), cloud_properties: { subnet } },
        }),
      },
      close: () => rm(dir, { recursive: true, force: true }),
    };
    // Subnets of a VPC are made by operators, not by a CPI.
  }, [64]);
});
