/** A command to type. One click selects all of it. */
export const Command = ({ text }: { readonly text: string }) => <code class="command">{text}</code>;

export const Commands = ({ texts }: { readonly texts: readonly string[] }) =>
  texts.length === 0 ? null : (
    <ul class="commands" aria-label="What to type">
      {texts.map((text) => (
        <li key={text}>
          <Command text={text} />
        </li>
      ))}
    </ul>
  );
