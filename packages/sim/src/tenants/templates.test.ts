import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { A, B, done, type TwoTeams, twoTeams, uploadTenantRelease } from "./testing/two-teams.ts";

let director: TwoTeams;
beforeAll(async () => {
  director = await twoTeams();
  done(await uploadTenantRelease(director));
});
afterAll(() => director.close());

const OF_A = {
  name: A,
  group: "canary-a-group",
  password: "((generated))",
  variables: [{ name: "generated", type: "password" }],
};
const OF_B = { name: B, group: "web", password: "of b" };
/** Remembers every value that a template asks for. */
const SPY = `class SlipwayTemplates::DirectorContext
  alias_method :plain_p, :p
  def p(*names) = plain_p(*names).tap { |value| ($seen ||= []) << value }
end`;
const REVEAL = 'raise "own: " + p("password")';

describe("templates of a team", () => {
  it("get nothing of another team's deploy out of the interpreter, in a dry run or a deploy", async () => {
    const { deploy } = director;
    // The team itself learns its password, which is searched for below.
    const own = await deploy("ada", { ...OF_A, code: REVEAL }, "?dry_run=true");
    done(await deploy("bob", { ...OF_B, code: SPY }, "?dry_run=true"));
    done(await deploy("bob", { ...OF_B, code: SPY }));
    done(await deploy("ada", OF_A));
    const again = await deploy("ada", { ...OF_A, code: REVEAL }, "?dry_run=true");
    const [, password = ""] = /own: (\w{10,})/.exec(again.said) ?? [];
    expect(password, own.said).not.toBe("");
    // The expressions do not match their own source.
    const search = [password, A].map((text) => `/[${text.slice(0, 1)}]${text.slice(1)}/`).join(" , ");
    const strings = "ObjectSpace.each_object(String)";
    const code = `raise "found: #{$seen.inspect} " + [${search}].map { |one| ${strings}.grep(one).size }.join(",")`;
    const found = await deploy("bob", { ...OF_B, code }, "?dry_run=true");
    expect(found.said).toContain("found: nil 0,0");
  });

  it("cannot change what another team's deploy renders", async () => {
    const { deploy } = director;
    const CHANGE = 'class ERB; def result(*) = "taken over"; end';
    done(await deploy("bob", { ...OF_B, code: CHANGE }, "?dry_run=true"));
    const own = await deploy("ada", { ...OF_A, code: REVEAL }, "?dry_run=true");
    expect(own.said).toMatch(/own: \w{10,}/);
  });

  it("cannot be given the variables of another team's deployment by their absolute names", async () => {
    const { deploy } = director;
    done(await deploy("ada", OF_A));
    const theirs = `/sim/${A}/generated`;
    for (const query of ["?dry_run=true", ""]) {
      const stolen = await deploy("bob", { ...OF_B, password: `((${theirs}))`, code: REVEAL }, query);
      expect(stolen.said).toContain(`Variable '${theirs}' belongs to deployment '${A}'`);
      expect(stolen.said).not.toContain("own: ");
    }
  });

  it("cannot replace the variables of another team's deployment or be signed by its authority", async () => {
    const { deploy } = director;
    const authority = { name: "ca", type: "certificate", options: { is_ca: true, common_name: "ca" } };
    done(await deploy("ada", { ...OF_A, variables: [...OF_A.variables, authority] }));
    const reveal = async () => (await deploy("ada", { ...OF_A, code: REVEAL }, "?dry_run=true")).said;
    const [before] = /own: \w{10,}/.exec(await reveal()) ?? [];
    const replaced = { name: `/sim/${A}/generated`, type: "password", update_mode: "overwrite" };
    const signed = { name: "tls", type: "certificate", options: { ca: `/sim/${A}/ca`, common_name: "x" } };
    for (const one of [replaced, signed]) {
      const { said } = await deploy("bob", { ...OF_B, variables: [one] });
      expect(said).toContain(`belongs to deployment '${A}'`);
    }
    expect(before).toBeDefined();
    expect(await reveal()).toContain(before);
  });

  it("are given another deployment's variables by their absolute names if both have a team", async () => {
    const { deploy } = director;
    done(await deploy("ada", OF_A));
    const same = { ...OF_A, name: "canary-a-second", password: `((/sim/${A}/generated))`, variables: [] };
    done(await deploy("ada", same));
    const ofAdmin = { ...OF_B, name: "of-admin", password: `((/sim/${A}/generated))` };
    done(await deploy("admin", ofAdmin));
  });
});
