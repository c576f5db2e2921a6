import { describe, expect, it } from "vitest";
import type { DockerChoice } from "./docker/descriptor.ts";
import { BadCpi, OptionOfOther, OtherCpi } from "./errors.ts";
import { type KnownChoice, selectCpi } from "./select.ts";

const DOCKER: DockerChoice = {
  cpi: "docker",
  host: "tcp://engine:2376",
  certificates: "/keys",
  engine: "E",
  volume: "slipway-disks-0123abcd",
};
const NEW: KnownChoice = { dir: "/home", remembered: undefined, bound: false };
const OF_DOCKER: KnownChoice = { dir: "/home", remembered: DOCKER, bound: true };
const OF_LOCAL: KnownChoice = { dir: "/home", remembered: { cpi: "local" }, bound: true };
const selection = (
  known: KnownChoice,
  { cpi, dockerHost }: { cpi?: string; dockerHost?: string } = {},
  env: Record<string, string> = {},
) => selectCpi({ cpi, options: dockerHost === undefined ? {} : { "docker-host": dockerHost } }, env, known);

describe("which CPI", () => {
  it("a new home has sandboxes unless something else is asked for", () => {
    expect(selection(NEW)).toEqual({ cpi: "local" });
    expect(selection(NEW, { cpi: "docker" })).toMatchObject({ cpi: "docker" });
  });

  it("DOCKER_HOST alone does not select Docker", () => {
    expect(selection(NEW, {}, { DOCKER_HOST: "unix:///x" })).toEqual({ cpi: "local" });
  });

  it("a home keeps what it has, whether it is said again or not", () => {
    for (const cpi of [undefined, "local"])
      expect(selection(OF_LOCAL, { ...(cpi && { cpi }) }).cpi).toBe("local");
    for (const cpi of [undefined, "docker"])
      expect(selection(OF_DOCKER, { ...(cpi && { cpi }) }).cpi).toBe("docker");
  });

  it.each([
    [OF_LOCAL, "docker", /are sandboxes/],
    [OF_DOCKER, "local", /are containers/],
  ])("a home with VMs of one kind gets none of another", (known, cpi, said) => {
    expect(() => selection(known, { cpi })).toThrow(expect.toSatisfy(OtherCpi.is));
    expect(() => selection(known, { cpi })).toThrow(said);
  });

  it("before there is a Director's state, one may think again", () => {
    expect(selection({ ...OF_DOCKER, bound: false }, { cpi: "local" })).toEqual({ cpi: "local" });
  });

  it("what cannot be meant is refused", () => {
    expect(() => selection(NEW, { cpi: "Docker" })).toThrow(expect.toSatisfy(BadCpi.is));
    expect(() => selection(NEW, { dockerHost: "unix:///x" })).toThrow(expect.toSatisfy(OptionOfOther.is));
    expect(() => selection(OF_LOCAL, { dockerHost: "unix:///x" })).toThrow(
      expect.toSatisfy(OptionOfOther.is),
    );
  });
});

describe("which engine", () => {
  const docker = { cpi: "docker" };
  const there = { DOCKER_HOST: "unix:///env" };

  it.each([
    ["the option", NEW, { ...docker, dockerHost: "unix:///given" }, there, "unix:///given"],
    ["DOCKER_HOST", OF_DOCKER, {}, there, "unix:///env"],
    ["an empty DOCKER_HOST is none", OF_DOCKER, {}, { DOCKER_HOST: "" }, "tcp://engine:2376"],
    ["what is remembered", OF_DOCKER, {}, {}, "tcp://engine:2376"],
    ["Docker's own", NEW, docker, {}, "unix:///var/run/docker.sock"],
  ])("%s", (_name, known, asked, env, host) => {
    expect(selection(known, asked, env)).toMatchObject({ host });
  });

  const tcp = { ...docker, dockerHost: "tcp://h:2376" };
  it.each([
    ["DOCKER_CERT_PATH", NEW, tcp, { DOCKER_CERT_PATH: "/c", DOCKER_TLS_VERIFY: "1" }, "/c"],
    ["docker's own directory", NEW, tcp, { DOCKER_TLS_VERIFY: "1", HOME: "/me" }, "/me/.docker"],
    ["a socket needs none", NEW, docker, { DOCKER_CERT_PATH: "/c" }, undefined],
    ["the remembered ones for the remembered engine", OF_DOCKER, {}, {}, "/keys"],
    ["but not for another", OF_DOCKER, tcp, {}, undefined],
  ])("certificates: %s", (_name, known, asked, env, certificates) => {
    expect(selection(known, asked, env)).toMatchObject({ certificates });
  });
});
