import type { Db } from "../../store/schema.ts";

export type Shaking = "works" | "refuses" | "forgets to answer";

/** A database whose statements fail before or after they were run. */
export function shakyDb(real: Db, mode: () => Shaking): Db {
  const failIn = (bad: Shaking) => {
    if (mode() === bad) throw new Error("no connection");
  };
  return real.withPlugin({
    transformQuery: ({ node }) => {
      failIn("refuses");
      return node;
    },
    transformResult: async ({ result }) => {
      failIn("forgets to answer");
      return result;
    },
  });
}
