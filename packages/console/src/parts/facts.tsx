import type { ComponentChildren } from "preact";

export type Fact = readonly [label: string, value: ComponentChildren];

/** Names and values, one below the other. */
export const Facts = ({ facts }: { readonly facts: readonly Fact[] }) => (
  <dl class="facts">
    {facts.map(([label, value]) => (
      <div key={label}>
        <dt>{label}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);
