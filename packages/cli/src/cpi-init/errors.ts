import { defineError } from "@slipway/kernel/errors";

export const ProjectThere = defineError<{ dir: string }>({
  code: "CLI-090",
  kind: "operator",
  message: (p) => `${p.dir} is not empty`,
  next: "Name a directory that does not exist yet, or an empty one. Nothing was changed.",
});

export const KitMissing = defineError<{ file: string }>({
  code: "CLI-091",
  kind: "operator",
  message: (p) => `${p.file} is not there, which a new CPI is made of`,
  next: "In a clone of slipway, `npm run build` makes it. An installed slipway has it: install it again.",
});
