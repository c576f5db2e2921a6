import { argumentsFit, fits, METHOD_VERSIONS, methodOf, resultFits } from "@slipway/testkit/wire-documents";
import { type Example, exampleFolders, readExamples } from "@slipway/testkit/wire-examples";
import { describe, expect, it } from "vitest";
import { API_VERSIONS, type ApiVersion } from "./cpi/api-version.ts";
import { type CpiRequest, type CpiResponse, cpiRequest, cpiResponse } from "./cpi/envelope.ts";
import { errorNameOf } from "./cpi/errors.ts";
import { existsIn } from "./cpi/method.ts";
import { CPI_METHOD_NAMES, methodNamed } from "./cpi/methods.ts";

/** Calls with which a Director of version 2 or 3 says what stemcell the VM runs. */
const ABOUT_A_VM = ["create_vm", "delete_vm", "attach_disk", "detach_disk"];

interface MethodExample {
  readonly example: Example;
  readonly version: ApiVersion;
  readonly method: string;
  readonly variant: string | undefined;
}

const side = (which: "request" | "response"): readonly MethodExample[] =>
  API_VERSIONS.flatMap((version) =>
    readExamples(`v${version}`)
      .filter((example) => example.parts.at(-1) === which)
      .map((example) => ({
        example,
        version,
        method: example.parts[0] ?? "",
        variant: example.parts.length > 2 ? example.parts.slice(1, -1).join(".") : undefined,
      })),
  );
const requests = side("request");
const responses = side("response");
const named = (examples: readonly MethodExample[]) =>
  examples.map((one) => [one.example.path, one.example.content as never, one] as const);

describe("the frozen examples", () => {
  it("are all in folders that a test reads", () => {
    expect(exampleFolders()).toEqual(
      ["agent", "drafts/2018-object", "drafts/a", "drafts/b", "errors", "hints", "invalid"].concat([
        "registry",
        "settings",
        "stemcell",
        "v1",
        "v2",
        "v3",
      ]),
    );
  });

  it("version folders hold only requests and responses", () => {
    for (const version of API_VERSIONS)
      for (const { path, parts } of readExamples(`v${version}`))
        expect(["request", "response"], path).toContain(parts.at(-1));
  });

  it.each(METHOD_VERSIONS.map(([version, method]) => [version, method.name] as const))(
    "version %i has a plain request and a plain response for %s",
    (version, method) => {
      const plain = (examples: readonly MethodExample[]) =>
        examples.filter(
          (one) => one.version === version && one.method === method && one.variant === undefined,
        );
      expect(plain(requests)).toHaveLength(1);
      expect(plain(responses)).toHaveLength(1);
    },
  );

  it.each([...requests, ...responses].map((one) => [one.example.path, one] as const))(
    "%s is of a method its version has",
    (_, { method, version }) => {
      expect(CPI_METHOD_NAMES as readonly string[]).toContain(method);
      expect(existsIn(methodOf(method), version)).toBe(true);
    },
  );
});

describe("a request", () => {
  it.each(named(requests))(
    "%s is sent as one line, its keys in the order of all callers",
    (_, content: CpiRequest, one) => {
      expect(fits(cpiRequest, content)).toEqual([]);
      expect(content.method).toBe(one.method);
      const order = ["method", "arguments", "context", "api_version"];
      expect(Object.keys(content)).toEqual(order.slice(0, Object.keys(content).length));
      const line = JSON.stringify(content);
      expect(line).not.toContain("\n");
      expect(JSON.parse(line)).toEqual(content);
    },
  );

  it.each(named(requests))(
    "%s has exactly the arguments of its version, not one more or less",
    (_, content: CpiRequest, one) => {
      const method = methodOf(one.method);
      const args = content.arguments;
      expect(argumentsFit(method, one.version, args)).toEqual([]);
      expect(argumentsFit(method, one.version, [...args, null])).not.toEqual([]);
      if (args.length > 0) expect(argumentsFit(method, one.version, args.slice(1))).not.toEqual([]);
    },
  );

  it.each(named(requests))("%s asks for the version of its folder", (_, content: CpiRequest, one) => {
    const asked = content.api_version;
    if (one.version === 1) expect([undefined, 1]).toContain(asked);
    else if (one.method === "info") expect([undefined, 1, one.version]).toContain(asked);
    else expect(asked).toBe(one.version);
  });

  it.each(named(requests.filter((one) => one.variant === undefined)))(
    "%s carries the stemcell version exactly where a Director sends it",
    (_, content: CpiRequest, one) => {
      const sent = content.context.vm?.stemcell?.api_version;
      if (one.version >= 2 && ABOUT_A_VM.includes(one.method)) expect(sent).toBe(one.version);
      else expect(content.context.vm).toBeUndefined();
      expect(content.context.request_id).toMatch(/^cpi-\d{6}$/);
    },
  );

  it.each(named(requests.filter((one) => one.variant?.startsWith("cli-style"))))(
    "%s has no request id and always a stemcell object",
    (_, content: CpiRequest) => {
      expect(content.context.request_id).toBeUndefined();
      expect(content.context.vm?.stemcell).toBeTypeOf("object");
    },
  );
});

describe("a response", () => {
  it.each(named(responses))("%s fits the envelope", (_, content: CpiResponse) => {
    expect(fits(cpiResponse, content)).toEqual([]);
    expect(Object.keys(content)).toEqual(["result", "error", "log"]);
  });

  it.each(named(responses.filter((one) => (one.example.content as CpiResponse).error === null)))(
    "%s has a result of its version",
    (_, content: CpiResponse, one) => {
      expect(resultFits(methodOf(one.method), one.version, content.result)).toEqual([]);
    },
  );

  it.each(named(responses.filter((one) => (one.example.content as CpiResponse).error !== null)))(
    "%s is an error that its method may raise",
    (_, content: CpiResponse, one) => {
      const error = content.error ?? { type: "", message: "" };
      expect(content.result).toBeNull();
      expect(methodNamed(one.method)?.errors).toContain(errorNameOf(error.type, error.message));
    },
  );

  it("a result that changed with a version does not fit the other version", () => {
    const changed = responses.filter(
      (one) => methodOf(one.method).results.length > 1 && one.variant === undefined,
    );
    expect(changed.map((one) => `v${one.version} ${one.method}`).sort()).toEqual(
      [1, 2, 3].flatMap((version) => [`v${version} attach_disk`, `v${version} create_vm`]).sort(),
    );
    for (const { version, method, example } of changed) {
      const { result } = example.content as CpiResponse;
      // A version 1 attach_disk may return anything: it is ignored there.
      if (version === 1) expect(resultFits(methodOf(method), 2, result)).not.toEqual([]);
      else if (method === "create_vm") expect(resultFits(methodOf(method), 1, result)).not.toEqual([]);
    }
  });
});
