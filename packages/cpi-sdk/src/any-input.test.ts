import { argsIn, camel, type Method, resultIn } from "@slipway/protocol/cpi/method";
import { matches } from "@slipway/protocol/schema/check";
import { diskHintWire } from "@slipway/protocol/settings/disk-hint";
import { arbitraryFor, mutated } from "@slipway/testkit/arbitrary";
import { type CloudMethods, cloudCpi, MemoryCloud } from "@slipway/testkit/memory-cloud";
import { liveRegistry } from "@slipway/testkit/registry";
import { ask, type CpiRequestParts, errorOf, resultOf, typeOf, wellFormed } from "@slipway/testkit/requests";
import { tries } from "@slipway/testkit/tries";
import { tempDir } from "@slipway/testkit/waiting";
import { METHOD_VERSIONS } from "@slipway/testkit/wire-documents";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Cpi } from "./cpi.ts";
import { embed } from "./embed.ts";

const WRITTEN = METHOD_VERSIONS.filter(([, method]) => method.name !== "info" && method.name !== "ping").map(
  ([version, method]) => [method.name, version, method] as const,
);

/** Makes the value that an author returns to get this result on the wire. */
const authored: Readonly<Record<string, (wire: never) => unknown>> = {
  create_vm: (wire: string | [string, object]) =>
    typeof wire === "string" ? { cid: wire, networks: {} } : { cid: wire[0], networks: wire[1] },
  create_network: ([cid, addresses, cloudProperties]: [string, object, object]) => ({
    ...addresses,
    cid,
    cloudProperties,
  }),
};

/** Returns the result that the caller gets for this one: null for void, and only the known fields of addresses. */
function expected(method: Method, version: 1 | 2 | 3, wire: unknown): unknown {
  const { doc } = resultIn(method, version);
  if (doc.startsWith("ignored")) return null;
  if (method.name !== "create_network") return wire ?? null;
  const [cid, { range, gateway, reserved }, rest] = wire as [string, Record<string, unknown>, unknown];
  return JSON.parse(JSON.stringify([cid, { range, gateway, reserved }, rest]));
}

/** A CPI whose one method of interest returns this; it has all the others too. */
function returning(method: Method, value: unknown): Cpi {
  const handler = (_: unknown, call: { userData?: (vm: object) => string }) => {
    call.userData?.({ networks: {} });
    return value;
  };
  const every = Object.fromEntries(WRITTEN.map(([name]) => [camel(name), () => undefined]));
  return cloudCpi(new MemoryCloud(), {
    methods: { ...every, [camel(method.name)]: handler } as Partial<CloudMethods>,
  });
}

const argsOf = (method: Method, version: 1 | 2 | 3) =>
  fc.tuple(...argsIn(method, version).map((argument) => arbitraryFor(argument.schema)));

const wireOf = (method: Method, version: 1 | 2 | 3) =>
  // Under version 1 an author returns the hint as well; only the caller does not get it.
  arbitraryFor(method.name === "attach_disk" ? diskHintWire : resultIn(method, version).schema);

const toAuthor = (method: Method, wire: unknown) => {
  const convert = authored[method.name];
  return convert === undefined ? wire : convert(wire as never);
};

describe("any arguments and results of the contract pass:", () => {
  it.each(WRITTEN.filter(([, version]) => version > 1))("%s under version %i", async (_, version, method) => {
    await fc.assert(
      fc.asyncProperty(argsOf(method, version), wireOf(method, version), async (args, wire) => {
        const client = embed(returning(method, toAuthor(method, wire)));
        const reply = await client.request(ask(method.name, args, { version }));
        expect(resultOf(reply)).toEqual(expected(method, version, wire));
      }),
      { numRuns: tries(40) },
    );
  });

  it.each(WRITTEN.filter(([, version]) => version === 1))(
    "%s under version %i, with a registry",
    async (_, version, method) => {
      const registry = await liveRegistry();
      const config = { registry: registry.section };
      await fc.assert(
        fc.asyncProperty(argsOf(method, version), wireOf(method, version), async (args, wire) => {
          const entryNeeded = method.name === "attach_disk" || method.name === "detach_disk";
          if (entryNeeded) await registry.put(String(args[0]), '{"agent_id":"a"}');
          const client = embed(returning(method, toAuthor(method, wire)), { config });
          const reply = await client.request(ask(method.name, args, { version, stemcell: 1 }));
          expect(resultOf(reply)).toEqual(expected(method, version, wire));
          if (method.name === "attach_disk") {
            expect((await registry.entry(String(args[0])))?.disks.persistent).toEqual({
              [String(args[1])]: wire,
            });
          }
        }),
        { numRuns: tries(15) },
      );
    },
  );
});

describe("whatever an author returns,", () => {
  it.each(WRITTEN.filter(([, version]) => version === 2))(
    "%s under version %i answers by the contract or says who broke it",
    async (_, version, method) => {
      const spoiled = wireOf(method, version).chain((wire) => mutated(toAuthor(method, wire)));
      await fc.assert(
        fc.asyncProperty(spoiled, argsOf(method, version), async (value, args) => {
          const reply = wellFormed(
            await embed(returning(method, value)).request(ask(method.name, args, { version })),
          );
          if (reply.error === null)
            expect(matches(resultIn(method, version).schema, reply.result)).toBe(true);
          else expect(reply.error.type).toBe(typeOf("CpiError"));
        }),
        { numRuns: tries(60) },
      );
    },
  );
});

describe("a request that was spoiled somewhere", () => {
  const asked: fc.Arbitrary<CpiRequestParts> = fc.record(
    {
      version: fc.constantFrom(1, 2, 3),
      stemcell: fc.constantFrom(1, 2),
      requestId: fc.constantFrom("cpi-1", "cpi-2"),
    },
    { requiredKeys: [] },
  );

  it.each(
    METHOD_VERSIONS.filter(([version]) => version === 2).map(
      ([version, method]) => [method.name, version, method] as const,
    ),
  )("is answered, never thrown at the caller: %s", async (_, version, method) => {
    const config = { cloud: { state_dir: await tempDir() } };
    const client = embed(returning(method, "x"), { config });
    const requests = fc
      .tuple(argsOf(method, version), asked)
      .map(([args, how]) => ask(method.name, args, how))
      .chain((request) => mutated(request));
    await fc.assert(
      fc.asyncProperty(requests, async (request) => {
        const reply = await client.request(request);
        wellFormed(reply);
        wellFormed(JSON.parse(JSON.stringify(reply)));
      }),
      { numRuns: tries(80) },
    );
  });

  it("answers a request that is not JSON at all", async () => {
    const client = embed(returning(METHOD_VERSIONS[0]?.[1] as Method, "x"));
    await fc.assert(
      fc.asyncProperty(
        fc.anything({ withBigInt: true, withMap: true, withNullPrototype: true }),
        async (request) => {
          errorOf(await client.request(request));
        },
      ),
      { numRuns: tries(200) },
    );
  });
});
