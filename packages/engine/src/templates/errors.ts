import { defineError } from "@slipway/kernel/errors";

export const RendererClosed = defineError<Record<string, never>>({
  code: "ENT-001",
  kind: "bug",
  message: () => "templates were to be rendered after the renderer was closed",
  next: "This is a mistake in Slipway. Report it with the task's debug log.",
});

export const RubyDidNotStart = defineError<{ why: string }>({
  code: "ENT-002",
  kind: "outside",
  message: (p) => `the built-in Ruby, which renders templates, did not start: ${p.why}`,
  next: "It needs about 100 MiB of memory. Free some, or set `templates.ruby` to a Ruby of this machine.",
});

/** Raised with everything that is wrong at once, in upstream's words. */
export const RenderingFailed = defineError<{ report: string }>({
  code: "ENT-003",
  kind: "operator",
  message: (p) => p.report,
  next: "Each line names the template, the line in it and what Ruby said. Set the property in the manifest, or correct the template. What is not there in the built-in Ruby may be in another: the Director's `templates.ruby` names one.",
});

export const SystemRubyFailed = defineError<{ ruby: string; why: string }>({
  code: "ENT-004",
  kind: "outside",
  message: (p) => `${p.ruby}, which is set as \`templates.ruby\`, did not render: ${p.why}`,
  next: "It runs in namespaces of its own, without network, and sees no files but the system's programs and its own directory. See that it, `unshare` and `setpriv` work here, or leave the setting away.",
});

export const PropertyNotAHash = defineError<{ name: string; type: string }>({
  code: "ENT-005",
  kind: "operator",
  message: (p) => `Property '${p.name}' expects a hash, but received '${p.type}'`,
  next: "Each part of a property's dotted name before the last is a hash in the manifest. Nest it so.",
});
