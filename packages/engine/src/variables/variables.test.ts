import { describe, expect, it } from "vitest";
import { hasPins, unpinned } from "../documents/pins.ts";
import { VariablesUnresolved } from "./errors.ts";
import { checkDefinedName, referenceOf } from "./names.ts";
import {
  type DocumentKind,
  isAllCloudProperties,
  isResolvedEagerly,
  isResolvedEagerlyInDeploy,
} from "./parts.ts";
import { pin, resolvePins } from "./pins.ts";
import { refuseRelativeNames, resolveVariables } from "./resolve.ts";

const scope = { director: "lab", deployment: "shop" };
const VALUES: Readonly<Record<string, unknown>> = {
  "/lab/shop/pw": "s3cret",
  "/lab/shop/port": 5432,
  "/lab/shop/on": true,
  "/lab/shop/db": { user: { name: "ada" }, ports: [1, 2] },
  "/shared/ca": { certificate: "PEM" },
};
const get = (name: string) =>
  Promise.resolve(
    Object.hasOwn(VALUES, name)
      ? { id: `id-${name.split("/").at(-1)}`, value: VALUES[name] }
      : VariablesUnresolved({ problems: [`no ${name}`], number: 1 }),
  );
const resolve = (document: unknown, kind?: DocumentKind) =>
  resolveVariables(document, { scope, get, within: kind && isResolvedEagerly(kind) });
const words = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "",
    (error: Error) => error.message,
  );

describe("names", () => {
  it.each([
    ["pw", "/lab/shop/pw", []],
    ["!pw", "/lab/shop/pw", []],
    ["/a/b", "/a/b", []],
    ["/a/b.c.0", "/a/b", ["c", "0"]],
    ["x/y.z", "/lab/shop/x/y", ["z"]],
  ])("((%s)) is %s", (written, name, path) => {
    expect(referenceOf(written, scope)).toEqual({ written, name, path });
  });

  it.each([
    ["a b", /must only contain alphanumeric/],
    ["", /must only contain alphanumeric/],
    ["pw@1", /must only contain alphanumeric/],
    ["a/", /must not end with a forward slash/],
    ["a//b", /two consecutive forward slashes/],
    ["a.b/c", /Must not contain dots before the last slash/],
    [".a", /Must not have segment starting with a dot/],
    ["a.", /Must not end name with a dot/],
    ["a..b", /Must not contain consecutive dots/],
    ["a!b", /contains invalid character '!'/],
    ["x".repeat(1025), /must have at most 1024 characters/],
    ["!", /contains invalid character '!'/],
  ])("((%s)) is refused", (written, why) => {
    expect(() => referenceOf(written, scope)).toThrow(why);
  });

  it("a definition has no path", () => {
    expect(() => checkDefinedName("a-b_c/D1")).not.toThrow();
    expect(() => checkDefinedName("a.b")).toThrow(/must only contain/);
  });
});

describe("resolving", () => {
  it("keeps the type of a value that stands alone, and follows paths", async () => {
    const document = {
      a: "((pw))",
      b: ["((port))", "((on))"],
      c: "((db.user))",
      d: "((/shared/ca.certificate))",
    };
    expect(await resolve(document)).toEqual({
      a: "s3cret",
      b: [5432, true],
      c: { name: "ada" },
      d: "PEM",
    });
  });

  it("inside text only strings and whole numbers stand; keys that are nothing else are filled", async () => {
    expect(await resolve({ "((pw))": "((pw)):((port))", "x((pw))": 1 })).toEqual({
      s3cret: "s3cret:5432",
      "x((pw))": 1,
    });
    expect(await words(resolve({ deep: [{ at: "x ((on)) ((db))" }] }))).toBe(
      "- Failed to substitute variable: Can not replace '((on))' in 'deep[0].at'. The value should be a String or an Integer.\n" +
        "- Failed to substitute variable: Can not replace '((db))' in 'deep[0].at'. The value should be a String or an Integer.",
    );
  });

  it("tells all that is missing at once", async () => {
    expect(await words(resolve({ a: "((x))((y))", b: "((db.gone))", c: "((pw.length))" }))).toBe(
      [
        "- - no /lab/shop/x",
        "- - no /lab/shop/y",
        "- Failed to fetch variable '/lab/shop/db' from config server: Expected parent '/lab/shop/db' hash to have key 'gone'",
        "- Failed to fetch variable '/lab/shop/pw' from config server: Expected parent '/lab/shop/pw' to be a hash",
      ].join("\n"),
    );
    expect(await words(resolve({ a: "((x y))", b: "((c/))" }))).toMatch(
      /'x y' must only.*\n- .*'c\/' must not end/,
    );
  });

  it("does not look at values again, nor below a prototype", async () => {
    const value = "((pw)) {{}} $& $1";
    const out = await resolveVariables(
      { a: "<((t))>" },
      { scope, get: () => Promise.resolve({ id: "1", value }) },
    );
    expect(out).toEqual({ a: `<${value}>` });
    expect(await words(resolve({ a: "((db.__proto__))" }))).toMatch(/to have key '__proto__'/);
  });

  it("a document of no deployment has absolute names only", async () => {
    const all = () => true;
    await refuseRelativeNames({ a: "((/shared/ca.certificate))" }, all);
    await expect(refuseRelativeNames({ a: "((pw))", b: "((port))" }, all)).rejects.toThrow(
      "Relative paths are not allowed in this context. The following must be be switched to use absolute paths: 'pw', 'port'",
    );
  });
});

describe("resolving very many placeholders", () => {
  it.each([
    ["in one text", { a: "((pw)) ".repeat(100_000) }],
    ["in a list", { a: Array.from({ length: 100_000 }, () => "((pw))") }],
    ["in keys of maps", { a: Array.from({ length: 50_000 }, () => ({ "((pw))": "((pw))" })) }],
  ])("lets other work of the thread go on: %s", async (_, document) => {
    let [turns, resolved] = [0, false];
    const others = async () => {
      for (; !resolved; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    };
    const counting = others();
    await resolve(document);
    resolved = true;
    await counting;
    expect(turns).toBeGreaterThan(20);
  });
});

describe("what is resolved when a document is read", () => {
  it.each<[DocumentKind, object]>([
    [
      "manifest",
      {
        properties: { a: "((pw))" },
        variables: [{ name: "x", options: { common_name: "((pw))" } }],
        instance_groups: [
          {
            env: { a: "((pw))" },
            properties: { a: "((pw))" },
            jobs: [{ properties: { a: "((pw))" }, consumes: { db: { properties: { a: "((pw))" } } } }],
          },
        ],
        addons: [{ properties: { a: "((pw))" }, jobs: [{ properties: { a: "((pw))" } }] }],
      },
    ],
    ["runtime", { addons: [{ jobs: [{ properties: { a: "((pw))" } }] }] }],
    [
      "cloud",
      {
        vm_types: [{ cloud_properties: { a: "((pw))" } }],
        networks: [{ subnets: [{ cloud_properties: { a: "((pw))" } }] }],
        compilation: { cloud_properties: { a: "((pw))" } },
      },
    ],
  ])("not these parts of a %s document", async (kind, document) => {
    expect(await resolve(document, kind)).toEqual(document);
  });

  it("resolves everything else", async () => {
    const document = {
      tags: { a: "((pw))" },
      instance_groups: [{ instances: "((port))", jobs: [{ consumes: { db: { from: "((pw))" } } }] }],
    };
    expect(await resolve(document, "manifest")).toEqual({
      tags: { a: "s3cret" },
      instance_groups: [{ instances: 5432, jobs: [{ consumes: { db: { from: "s3cret" } } }] }],
    });
  });
});

describe("a variable for all cloud properties", () => {
  const resolveConfig = async (config: object) => {
    const value = { key: "s3cret", "a.b": 1 };
    const found = () => Promise.resolve({ id: "1", value });
    const options = { scope, get: found, within: isResolvedEagerlyInDeploy, byKey: isAllCloudProperties };
    const resolved = await resolveVariables({ cloudConfigs: [config] }, options);
    return (resolved as { cloudConfigs: readonly unknown[] }).cloudConfigs[0];
  };
  const properties = (cloud_properties: unknown) => ({
    azs: [{ cloud_properties }],
    vm_types: [{ cloud_properties }],
    vm_extensions: [{ cloud_properties }],
    disk_types: [{ cloud_properties }],
    networks: [{ cloud_properties, subnets: [{ cloud_properties }] }],
    compilation: { cloud_properties },
  });

  it("becomes a placeholder for each key that a placeholder can name, wherever cloud properties stand", async () => {
    const keys = { key: "((/all.key))", "a.b": 1 };
    expect(await resolveConfig(properties("((/all))"))).toEqual(properties(keys));
    expect(await resolveConfig(properties({ x: "((/all))" }))).toEqual(properties({ x: "((/all))" }));
  });

  it("is the value itself elsewhere", async () => {
    expect(await resolveConfig({ compilation: { env: "((/all))" } })).toEqual({
      compilation: { env: { key: "s3cret", "a.b": 1 } },
    });
  });
});

describe("pins", () => {
  const options = { scope, get };
  const raw = { a: "((pw))", b: { c: "x((db.user.name))", "((pw))": 1 }, d: "plain" };

  it("say which version is meant, and nothing of the value", async () => {
    const pinned = await pin(raw, options);
    expect(pinned).toEqual({
      a: "((/lab/shop/pw@id-pw))",
      b: { c: "x((/lab/shop/db.user.name@id-db))", "((/lab/shop/pw@id-pw))": 1 },
      d: "plain",
    });
    expect([hasPins(raw), hasPins(pinned)]).toEqual([false, true]);
    expect(unpinned(pinned)).toEqual({
      a: "((/lab/shop/pw))",
      b: { c: "x((/lab/shop/db.user.name))", "((/lab/shop/pw))": 1 },
      d: "plain",
    });
  });

  it("are resolved by id, later and elsewhere", async () => {
    const byId = (id: string) => Promise.resolve(VALUES[`/lab/shop/${id.slice(3)}`]);
    expect(await resolvePins(await pin(raw, options), byId)).toEqual({
      a: "s3cret",
      b: { c: "xada", s3cret: 1 },
      d: "plain",
    });
  });

  it("refuse what could not be resolved", async () => {
    expect(await words(pin({ a: "((gone))", b: "((gone2))" }, options))).toMatch(/gone.*\n.*gone2/);
    expect(await words(pin({ a: "x((on))" }, options))).toMatch(/Can not replace '\(\(on\)\)'/);
    expect(await words(pin({ a: "((/lab/shop/pw@id-pw))" }, options))).toMatch(/must only contain/);
  });
});
