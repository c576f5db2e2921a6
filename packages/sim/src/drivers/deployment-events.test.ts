import { expect, it } from "vitest";
import { jobsStage, onAsk, shopRelease, web } from "./testing/jobs-stage.ts";

const { stage, done, run, upload, task } = jobsStage();

const shop = () => task([{ name: "web", instances: 1, jobs: [web()] }]);

/** Contexts of the events of the deployment itself, in order. */
async function contexts(): Promise<readonly unknown[]> {
  const rows = await stage.bench.db
    .selectFrom("events")
    .select("context")
    .where("object_type", "=", "deployment")
    .orderBy("id")
    .execute();
  return rows.map(({ context }) => context);
}

it("names releases and stemcells before and after a deploy in its last event, also when the deploy fails", async () => {
  await done(shop());
  await upload(shopRelease({ version: "2", web: "another template" }));
  const refuse = onAsk("apply", () => Promise.resolve({ exception: "no room" }));
  expect((await run(shop(), { interference: refuse })).state).toBe("error");
  const stemcells = [expect.stringMatching(/^[a-z-]+\/[0-9.]+$/)];
  const [begun, made, begunAgain, failed] = await contexts();
  expect([begun, begunAgain]).toEqual([{}, {}]);
  expect(made).toEqual({ before: {}, after: { releases: ["shop/1"], stemcells } });
  expect(failed).toMatchObject({
    before: { releases: ["shop/1"], stemcells },
    after: { releases: expect.arrayContaining(["shop/2"]), stemcells },
  });
});
