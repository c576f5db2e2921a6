import type { Option } from "../command.ts";

export const dirOption: Option = {
  flags: "--dir <path>",
  about: "the release's directory (the one you are in)",
};
