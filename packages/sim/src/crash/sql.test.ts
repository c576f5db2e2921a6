import { describe, expect, it } from "vitest";
import { statementsIn, writingFunctions } from "./sql.ts";

const writes = (query: string) =>
  statementsIn(query).flatMap((one) => (one.does === "write" ? one.what : []));
const does = (query: string) => statementsIn(query).map((one) => one.does);

describe("what a statement writes", () => {
  it.each([
    ["insert into intents (a) values ($1)", ["insert intents"]],
    ['update "public"."locks" set a = 1', ["update locks"]],
    ["DELETE FROM only tasks", ["delete tasks"]],
    ["with a as (insert into vms values (1) returning 1) select must(true)", ["insert vms"]],
    [
      "with gone as (delete from vms returning *), moved as (insert into orphaned_vms select 1) select 1",
      ["delete vms", "insert orphaned_vms"],
    ],
    ["insert into locks values (1) on conflict (name) do update set a = 1", ["insert locks"]],
    ["create table a (b int)", ["create table"]],
  ])("%s", (query, what) => {
    expect(writes(query)).toEqual(what);
  });

  it.each([
    ["select * from tasks where id = 1 for update skip locked", "lock"],
    ["select 1 from tasks for no key update", "lock"],
    ["select id from tasks for share", "lock"],
    ["select 'insert into vms' from tasks -- delete from vms", "read"],
    ["select $tag$ update vms set a = 1 $tag$", "read"],
    ["select E'it\\'s; delete from vms'", "read"],
    ["select update.a from t /* insert into vms */", "read"],
    ['select "insert" from "update"', "read"],
    ["begin", "begin"],
    ["start transaction isolation level serializable", "begin"],
    ["commit", "commit"],
    ["rollback", "rollback"],
    ["rollback to savepoint a", "read"],
  ])("nothing: %s", (query, what) => {
    expect(does(query)).toEqual([what]);
  });

  it("a function of the database writes when it does itself, or calls one that does", () => {
    const functions = writingFunctions(
      new Map([
        ["note", "begin insert into vms values (1); end;"],
        ["through", "begin perform note(); end;"],
        ["look", "begin perform 1 from vms for share; end;"],
      ]),
    );
    expect([...functions].sort()).toEqual(["note", "through"]);
    const [one, two] = ["select through($1)", "select look($1), note from through"].flatMap((query) =>
      statementsIn(query, functions),
    );
    expect([one, two]).toEqual([{ does: "write", what: ["through"], counts: false }, { does: "read" }]);
  });

  it("several statements are read one by one", () => {
    expect(does("begin; insert into a values (';'); commit;")).toEqual(["begin", "write", "commit"]);
  });
});
