import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ChoiceUnreadable } from "../home/errors.ts";
import { type Home, homeOf } from "../home/home.ts";
import type { Tools } from "../tools.ts";
import { readChoice, writeChoice } from "./choice.ts";
import type { DockerChoice, DockerSelection, PreparedDocker } from "./docker/descriptor.ts";
import { BadDockerHost, CertificatesUnreadable, EngineAbsent, OtherEngine } from "./docker/errors.ts";
import { FakeEngine } from "./docker/testing/fake-engine.ts";
import { OtherCpi } from "./errors.ts";
import { decide, prepare } from "./prepare.ts";

let dir: string;
let remove: () => Promise<void>;
let home: Home;
beforeEach(async () => {
  ({ path: dir, remove } = await temporaryDirectory());
  home = homeOf({ SLIPWAY_HOME: join(dir, "home") }, 1);
  await mkdir(home.dir);
});
afterEach(() => remove());

const DOCKER = { cpi: "docker", host: "unix:///a", engine: "one" } as const;
const bind = () => mkdir(home.director);

describe("what a home remembers", () => {
  it("a choice is read back as it was made, and the volume is chosen once and is no other home's", async () => {
    expect(await readChoice(home)).toBeUndefined();
    const first = (await decide(home, DOCKER, systemRandom)) as DockerChoice;
    expect(first).toMatchObject({ ...DOCKER, volume: expect.stringMatching(/^slipway-disks-[0-9a-f]{8}$/) });
    expect(await readChoice(home)).toEqual(first);
    const labelled: DockerChoice = { ...first, director: "uuid" };
    await writeChoice(home, labelled);
    const elsewhere: PreparedDocker = { ...DOCKER, host: "unix:///b" };
    const moved = await decide(home, elsewhere, systemRandom);
    expect(moved).toEqual({ ...first, host: "unix:///b", director: "uuid" });
    const other = homeOf({ SLIPWAY_HOME: join(dir, "other") }, 1);
    await mkdir(other.dir);
    expect(await decide(other, DOCKER, systemRandom)).not.toMatchObject({ volume: first.volume });
  });

  it("it is for its owner alone", async () => {
    await decide(home, DOCKER, systemRandom);
    expect((await stat(home.cpiFile)).mode & 0o077).toBe(0);
  });

  it("a home from before there was a choice has sandboxes", async () => {
    await bind();
    expect(await readChoice(home)).toEqual({ cpi: "local" });
    await expect(decide(home, DOCKER, systemRandom)).rejects.toSatisfy(OtherCpi.is);
    await expect(readFile(home.cpiFile)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it.each([
    "",
    "{}",
    '{"cpi":"podman"}',
    '{"cpi":"docker"}',
    '{"cpi":"local","more":1}',
    '{"cpi":"docker","host":"unix:///a","engine":"e","volume":"slipway-disks"}',
  ])("what cannot be understood is not guessed at: %j", async (text) => {
    await writeFile(home.cpiFile, text);
    await expect(readChoice(home)).rejects.toSatisfy(ChoiceUnreadable.is);
    await expect(decide(home, { cpi: "local" }, systemRandom)).rejects.toSatisfy(ChoiceUnreadable.is);
    expect(await readFile(home.cpiFile, "utf8")).toBe(text);
  });
});

describe("the engine, before anything is made", () => {
  const asked = (host: string, certificates?: string) => {
    const selection: DockerSelection = { cpi: "docker", host, certificates };
    // The CPI of Docker has nothing to warn of.
    return prepare(selection, { home, clock: systemClock, ui: undefined as unknown as Tools["ui"] });
  };

  it.each([
    ["unix:///nowhere/docker.sock", EngineAbsent, /no such socket/],
    ["tcp://127.0.0.1:1", EngineAbsent, /nobody listens/],
    ["ssh://somebody@engine", BadDockerHost, /no address of an engine/],
    ["tcp://192.0.2.1:2375", BadDockerHost, /would not be encrypted/],
  ])("%s is refused in words of `up`", async (host, kind, said) => {
    const refused = asked(host);
    await expect(refused).rejects.toSatisfy(kind.is);
    await expect(refused).rejects.toThrow(said);
    await expect(refused).rejects.toMatchObject({ next: expect.stringContaining("--docker-host") });
  });

  it("certificates that are not there are named", async () => {
    const refused = asked("tcp://192.0.2.1:2376", dir);
    await expect(refused).rejects.toSatisfy(CertificatesUnreadable.is);
    await expect(refused).rejects.toThrow(join(dir, "ca.pem"));
  });

  describe("an engine that answers", () => {
    const INFO = { ID: "one", Name: "machine", DockerRootDir: "/docker" };
    const NAME = "machine /docker one";
    let engine: FakeEngine;
    beforeEach(async () => {
      engine = await FakeEngine.open({ "/info": INFO });
    });
    afterEach(() => engine.close());

    it("is known from then on by its machine, its files and its id, at whatever address", async () => {
      const { host } = engine;
      expect(await asked(host)).toEqual({ cpi: "docker", host, engine: NAME });
    });

    it("identifies an engine whose name changes every time, as podman's does, by its machine and files", async () => {
      const { host } = engine;
      let root = "/one";
      engine.answers = {
        get "/info"() {
          return { ID: systemRandom.hex(8), Name: "machine", DockerRootDir: root };
        },
      };
      const prepared = await asked(host);
      await decide(home, prepared, systemRandom);
      await bind();
      expect(await asked(host)).toEqual(prepared);
      root = "/two";
      await expect(asked(host)).rejects.toSatisfy(OtherEngine.is);
    });

    it("reports an engine that is too old", async () => {
      engine.version = { ApiVersion: "1.24", MinAPIVersion: "1.12" };
      await expect(asked(engine.host)).rejects.toMatchObject({ code: "DOC-002" });
    });

    it("refuses an engine that does not have the home's containers, unless it has the home's disks", async () => {
      const { host } = engine;
      const first: PreparedDocker = { cpi: "docker", host: "unix:///first", engine: NAME };
      const { volume } = (await decide(home, first, systemRandom)) as DockerChoice;
      await bind();
      expect(await asked(host)).toMatchObject({ host, engine: NAME });
      for (const other of [{ ID: "two" }, { Name: "copy" }, { DockerRootDir: "/other" }]) {
        engine.answers = { "/info": { ...INFO, ...other } };
        await expect(asked(host)).rejects.toSatisfy(OtherEngine.is);
      }
      engine.answers = { ...engine.answers, [`/volumes/${volume}`]: { Name: volume } };
      expect(await asked(host)).toMatchObject({ host, engine: "machine /other one" });
    });
  });
});
