import { type Questions, questions } from "./questions.ts";

type Question<K extends keyof Questions> = Parameters<Questions[K]>[0];
type Answer<K extends keyof Questions> = ReturnType<Questions[K]>;

/** Reads manifests and configs. Rejects with what `engine/documents/errors` and `documents/errors` have. */
export interface Documents {
  ask<K extends keyof Questions>(name: K, question: Question<K>): Promise<Answer<K>>;
  close(): Promise<void>;
}

/** On the thread of the caller, which waits for it. For programs that serve nobody meanwhile. */
export const documentsHere: Documents = {
  ask: (name, question) => Promise.resolve().then(() => answerHere(name, question)),
  close: () => Promise.resolve(),
};

/** The table has one type for each name; here it is not known which one it is. */
export const answerHere = <K extends keyof Questions>(name: K, question: Question<K>): Answer<K> =>
  (questions[name] as (asked: Question<K>) => Answer<K>)(question);
