import { isObject } from "@slipway/protocol/schema/json";
import { describe, expect, it } from "vitest";
import type { StemcellRecord } from "../model/records.ts";
import { definitionsOf } from "../variables/definitions.ts";
import { parseCpiConfig } from "./cpi-config.ts";
import { checkDeploy, type DeployDocuments } from "./deploy-problems.ts";
import { type DocumentKind, everyKey, KNOWN_KEYS, type KnownKeys, type Verdict } from "./known-keys.ts";
import { notesOn } from "./notes.ts";

/** The keys of BOSH's documents, by where they stand: `!` is refused here, `~` is not for a Director. */
const UPDATE =
  "canaries max_in_flight canary_watch_time update_watch_time serial vm_strategy initial_deploy_az_update_strategy";
const RELEASE = {
  "": "name version exported_from url~ sha1~ stemcell~",
  exported_from: "os version",
  stemcell: "os~ version~",
};
const FILTER = { jobs: "name release", stemcell: "os" };
const FILTER_KEYS = "jobs instance_groups stemcell networks azs lifecycle";
const ADDON = {
  "": "name jobs include exclude properties",
  jobs: "name release properties consumes provides",
};
const VARIABLE = { "": "name type options update_mode update consumes", update: "strategy" };
const SIZES = "cpu ram ephemeral_disk_size";

const EXPECTED: Readonly<Record<DocumentKind, Readonly<Record<string, string>>>> = {
  manifest: {
    "": "name director_uuid~ features release releases stemcells update instance_groups addons variables tags properties vm_types! vm_extensions! azs! disk_types! compilation! networks! disk_pools! jobs! resource_pools!",
    features:
      "use_dns_addresses use_short_dns_addresses use_link_dns_names randomize_az_placement converge_variables use_tmpfs_config",
    ...under("releases", RELEASE),
    ...under("release", RELEASE),
    stemcells: "alias os name version",
    update: UPDATE,
    instance_groups:
      "name instances azs jobs vm_type vm_resources vm_extensions stemcell persistent_disk persistent_disk_type persistent_disks networks update migrated_from lifecycle properties env tags template! templates! resource_pool! persistent_disk_pool!",
    "instance_groups.jobs": "name release properties consumes provides custom_provider_definitions",
    "instance_groups.jobs.custom_provider_definitions": "name type properties",
    "instance_groups.vm_resources": SIZES,
    "instance_groups.persistent_disks": "name type",
    "instance_groups.networks": "name static_ips default nic_group",
    "instance_groups.update": UPDATE,
    "instance_groups.migrated_from": "name az",
    ...under("addons", ADDON),
    ...under("addons.include", { "": `${FILTER_KEYS} deployments! teams~`, ...FILTER }),
    ...under("addons.exclude", { "": `${FILTER_KEYS} deployments! teams~`, ...FILTER }),
    ...under("variables", VARIABLE),
  },
  cloud: {
    "": "azs vm_types vm_extensions disk_types networks compilation",
    azs: "name cpi cloud_properties",
    vm_types: "name cloud_properties",
    vm_extensions: "name cloud_properties",
    disk_types: "name disk_size cloud_properties",
    networks: "name type subnets dns cloud_properties managed az! azs! prefix!",
    "networks.subnets": "range gateway dns reserved static az azs cloud_properties prefix name netmask_bits",
    compilation:
      "workers network az vm_type vm_resources cloud_properties vm_extensions reuse_compilation_vms orphan_workers env",
    "compilation.vm_resources": SIZES,
  },
  runtime: {
    "": "releases addons variables tags",
    ...under("releases", RELEASE),
    ...under("addons", ADDON),
    ...under("addons.include", { "": `${FILTER_KEYS} deployments teams`, ...FILTER }),
    ...under("addons.exclude", { "": `${FILTER_KEYS} deployments teams`, ...FILTER }),
    ...under("variables", VARIABLE),
  },
  cpi: {
    "": "cpis",
    cpis: "name type properties exec_path migrated_from",
    "cpis.migrated_from": "name",
  },
};

function under(place: string, levels: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(levels).map(([at, keys]) => [at === "" ? place : `${place}.${at}`, keys]),
  );
}

const MARKS: Readonly<Record<string, Verdict>> = { "!": "refused", "~": "ignored" };
const expectedOf = (kind: DocumentKind): Record<string, Verdict> =>
  Object.fromEntries(
    Object.entries(EXPECTED[kind]).flatMap(([place, keys]) =>
      keys.split(" ").map((key) => {
        const name = key.replace(/[!~]$/, "");
        const verdict = MARKS[key.at(-1) ?? ""] ?? "used";
        return [place === "" ? name : `${place}.${name}`, verdict] as const;
      }),
    ),
  );

const KINDS = Object.keys(KNOWN_KEYS) as readonly DocumentKind[];

describe("every key of BOSH's documents has its verdict", () => {
  it.each(KINDS)("in the table of the %s", (kind) => {
    const table = everyKey(KNOWN_KEYS[kind]).map(({ path, verdict }) => [path, verdict] as const);
    expect(Object.fromEntries(table)).toEqual(expectedOf(kind));
  });
});

type Documents = Pick<DeployDocuments, "manifest" | "cloudConfigs" | "runtimeConfigs"> & {
  readonly cpiConfigs: readonly unknown[];
};

const STEMCELL = {
  id: 1,
  name: "local",
  version: "1",
  operatingSystem: "local",
  cid: "sc-1",
  cpi: "",
  apiVersion: 3,
} as StemcellRecord;

const WATCHES = { canaries: 1, max_in_flight: 1, canary_watch_time: 1, update_watch_time: 1 };
const MANIFEST = {
  name: "shop",
  releases: [{ name: "r", version: "1" }],
  stemcells: [{ alias: "default", os: "local", version: "1" }],
  update: WATCHES,
  instance_groups: [
    {
      name: "web",
      instances: 1,
      azs: ["z1"],
      jobs: [{ name: "j", release: "r" }],
      vm_type: "small",
      stemcell: "default",
      networks: [{ name: "private" }],
    },
  ],
};
const CLOUD = {
  azs: [{ name: "z1" }],
  vm_types: [{ name: "small" }],
  networks: [{ name: "private", subnets: [{ range: "10.0.0.0/24", gateway: "10.0.0.1", azs: ["z1"] }] }],
  compilation: { workers: 1, network: "private", az: "z1", vm_type: "small" },
};
const CPIS = { cpis: [{ name: "a", type: "local" }] };
/** Keys whose value is one map; all other keys with keys below have a list of maps. */
const MAPS = /(^|\.)(features|update|vm_resources|include|exclude|compilation|release|releases?\.stemcell)$/;
/** Fields required beside the tested key. */
const MADE: Readonly<Record<string, object>> = {
  release: { name: "r", version: "1" },
  releases: { name: "r", version: "1" },
  variables: { name: "v", type: "password" },
  "instance_groups.migrated_from": { name: "old" },
};
/** A value of the wrong type for every key. */
const WRONG = [[7]];
/** Values for keys where the wrong value counts as absent. */
const OTHER: Readonly<Record<string, unknown>> = {
  "variables.name": "other",
  "variables.update": { strategy: "on-stemcell-change" },
};
/** Values for keys that need a valid value to be rejected. */
const REFUSED: Readonly<Record<string, unknown>> = {
  "addons.include.deployments": ["shop"],
  "addons.exclude.deployments": ["shop"],
};

type Level = Record<string, unknown>;

/** A copy with this at a place; maps and lists on the way are made. `undefined` takes the key away. */
function withKey(document: object, path: string, value: unknown): Level {
  const copy = structuredClone(document) as Level;
  const names = path.split(".");
  let at = copy;
  for (const [i, name] of names.slice(0, -1).entries()) {
    const place = names.slice(0, i + 1).join(".");
    const isMap = MAPS.test(place);
    at[name] ??= isMap ? { ...MADE[place] } : [{ ...MADE[place] }];
    at = (isMap ? at[name] : (at[name] as Level[])[0]) as Level;
  }
  const last = names.at(-1) ?? "";
  if (value === undefined) delete at[last];
  else at[last] = value;
  return copy;
}

function baseFor(kind: DocumentKind, path: string): object {
  if (kind === "runtime") return {};
  if (kind === "cpi") return CPIS;
  if (kind === "manifest") {
    const { releases, ...others } = MANIFEST;
    return /^release(\.|$)/.test(path) ? others : { ...others, releases };
  }
  if (path.startsWith("compilation.vm_resources")) return withKey(CLOUD, "compilation.vm_type", undefined);
  if (/^networks\.subnets\.(name|netmask_bits)$/.test(path)) {
    const [network] = CLOUD.networks;
    const subnets = [{ name: "one", ...network?.subnets[0] }];
    return { ...CLOUD, networks: [{ ...network, managed: true, subnets }] };
  }
  const ofDynamic = /^networks\.(dns|cloud_properties|az|azs|prefix)$/.test(path);
  return ofDynamic ? { ...CLOUD, networks: [{ name: "private", type: "dynamic" }] } : CLOUD;
}

function documentsWith(kind: DocumentKind, document: object): Documents {
  return {
    manifest: kind === "manifest" ? document : MANIFEST,
    cloudConfigs: [kind === "cloud" ? document : CLOUD],
    runtimeConfigs: kind === "runtime" ? [document] : [],
    cpiConfigs: kind === "cpi" ? [document] : [],
  };
}

/** All that a deploy makes of documents before it asks anybody. */
function outcomeOf(documents: Documents) {
  const checked = checkDeploy({ ...documents, stemcells: [STEMCELL], managedNetworks: new Map() });
  let variables: unknown;
  try {
    variables = definitionsOf(documents, { director: "d", deployment: "shop" });
  } catch (error) {
    variables = (error as Error).message;
  }
  return { checked, variables, cpis: parseCpiConfig(documents.cpiConfigs) };
}

const problemsIn = ({ checked }: ReturnType<typeof outcomeOf>) => (checked.ok ? [] : checked.problems);

const rows = (wanted: Verdict) =>
  KINDS.flatMap((kind) =>
    everyKey(KNOWN_KEYS[kind])
      .filter(({ verdict }) => verdict === wanted)
      .map(({ path }) => [kind, path] as const),
  );

/** Checks the documents with the key, and without it. */
const played = (kind: DocumentKind, path: string, value: unknown = WRONG) => {
  const base = baseFor(kind, path);
  const documents = documentsWith(kind, withKey(base, path, value));
  const without = documentsWith(kind, withKey(base, path, undefined));
  return { documents, with: outcomeOf(documents), without: outcomeOf(without) };
};

describe("the verdict on a key holds", () => {
  it("for documents that are right as they are", () => {
    expect(problemsIn(outcomeOf(documentsWith("manifest", MANIFEST)))).toEqual([]);
  });

  it.each(rows("used"))("the %s uses %s: its value makes a difference", (kind, path) => {
    const { with: one, without } = played(kind, path, OTHER[path]);
    expect(one).not.toEqual(without);
  });

  it.each(rows("refused"))("the %s rejects %s by name", (kind, path) => {
    const { with: one, without } = played(kind, path, REFUSED[path]);
    const [section = "", ...inner] = path.split(".");
    const name = inner.at(-1);
    const here = (outcome: ReturnType<typeof outcomeOf>) =>
      problemsIn(outcome).filter(
        ({ where }) => where.startsWith(section) && (name === undefined || where.endsWith(`.${name}`)),
      );
    expect(here(one)).toHaveLength(1);
    expect(here(without)).toEqual([]);
  });

  it.each(rows("ignored"))("the %s ignores %s without a warning", (kind, path) => {
    const { documents, with: one, without } = played(kind, path);
    expect(one).toEqual(without);
    expect(notesOn(documents).warnings).toEqual([]);
  });
});

describe("an unknown key", () => {
  const levels = KINDS.flatMap((kind) => Object.keys(EXPECTED[kind]).map((place) => [kind, place] as const));

  it.each(levels)("in the %s at '%s' is warned of by its place, and is no mistake", (kind, place) => {
    const path = place === "" ? "surprise" : `${place}.surprise`;
    const { documents, with: one, without } = played(kind, path);
    expect(problemsIn(one)).toEqual(problemsIn(without));
    expect(notesOn(documents).warnings).toEqual([expect.stringMatching(/surprise is not known/)]);
  });

  it("is reported with the known key that it resembles", () => {
    const misspelt = withKey(MANIFEST, "instance_groups.lifecylce", "errand");
    expect(notesOn(documentsWith("manifest", misspelt)).warnings).toEqual([
      "In the manifest, the key instance_groups[web].lifecylce is not known: nothing reads it. Did you mean lifecycle?",
    ]);
  });

  it("is not looked for in what belongs to releases, CPIs and agents", () => {
    const free = ["properties", "env", "tags"].reduce(
      (document, key) => withKey(document, `instance_groups.${key}`, { whatever: { it: "is" } }),
      MANIFEST as object,
    );
    expect(notesOn(documentsWith("manifest", free)).warnings).toEqual([]);
  });

  it("is never read: all that the parsers look for is in the tables", () => {
    const asked = new Set<string>();
    const full = (kind: DocumentKind, base: object) =>
      Object.keys(EXPECTED[kind]).reduce((document, place) => {
        const inside = place === "" || place === "release" || place.startsWith("release.");
        const keys = EXPECTED[kind][place]?.split(" ") ?? [];
        const last = keys.find((key) => !Object.hasOwn(EXPECTED[kind], `${place}.${key}`)) ?? "";
        return inside ? document : withKey(document, `${place}.${last}`, "x");
      }, base);
    outcomeOf({
      manifest: watched(full("manifest", MANIFEST), KNOWN_KEYS.manifest, "manifest", asked),
      cloudConfigs: [watched(full("cloud", CLOUD), KNOWN_KEYS.cloud, "cloud", asked)],
      runtimeConfigs: [watched(full("runtime", {}), KNOWN_KEYS.runtime, "runtime", asked)],
      cpiConfigs: [watched(full("cpi", CPIS), KNOWN_KEYS.cpi, "cpi", asked)],
    });
    expect([...asked]).toEqual([]);
  });
});

/** Notes keys that are looked for and not known. */
function watched(value: unknown, known: KnownKeys, where: string, asked: Set<string>): unknown {
  if (Array.isArray(value)) return value.map((item) => watched(item, known, where, asked));
  if (!isObject(value)) return value;
  return new Proxy(value, {
    getOwnPropertyDescriptor: (target, key) => {
      if (typeof key === "string" && !Object.hasOwn(known, key)) asked.add(`${where}: ${key}`);
      return Reflect.getOwnPropertyDescriptor(target, key);
    },
    get: (target, key) => {
      const found: unknown = Reflect.get(target, key);
      const keys = typeof key === "string" ? known[key]?.keys : undefined;
      return keys === undefined ? found : watched(found, keys, `${where}.${String(key)}`, asked);
    },
  });
}

describe("what BOSH calls deprecated", () => {
  it("is said in its words, once", () => {
    const addon = { name: "a", jobs: [], properties: {} };
    const { deprecations } = notesOn({
      manifest: { ...MANIFEST, properties: { a: 1 }, addons: [addon] },
      cloudConfigs: [CLOUD],
      runtimeConfigs: [{ addons: [addon, addon] }],
      cpiConfigs: [],
    });
    expect(deprecations).toEqual([
      "Global 'properties' are deprecated. Please define 'properties' at the job level.",
      "Top level 'properties' in addons are deprecated. Please define 'properties' at the job level.",
    ]);
  });
});
