import { type Check, given } from "./check.ts";

/** Whole stories, with others in charge. */
export const STORY_CHECKS: readonly Check[] = [
  {
    id: "AGENT-STORY-001",
    number: 54,
    name: "create-env makes a VM, enlarges its disk, and delete-env removes it",
    needs: ["stories"],
    run: async ({ control }) => await given(control)("story", "create-env"),
  },
  {
    id: "AGENT-STORY-002",
    number: 55,
    name: "a Director deploys, recreates, resizes, runs errands, and repairs",
    needs: ["stories"],
    run: async ({ control }) => await given(control)("story", "director"),
  },
];
