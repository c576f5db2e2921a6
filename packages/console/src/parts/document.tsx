/** Text of any size in a box that scrolls, also by keys. */
export const Document = ({ label, text }: { readonly label: string; readonly text: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, the keys would not scroll it.
  <section class="document" tabIndex={0} aria-label={label}>
    <pre>{text}</pre>
  </section>
);

/** A JSON value as text. */
export const JsonText = ({ label, value }: { readonly label: string; readonly value: unknown }) => (
  <figure class="json">
    <figcaption>{label}</figcaption>
    <Document label={label} text={value === undefined ? "nothing" : JSON.stringify(value, null, 2)} />
  </figure>
);
