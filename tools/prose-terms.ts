/** A regular expression for a rejected term, and the standard term that replaces it (docs/STYLE.md). */
type Term = [pattern: string, use: string];

const word = (pattern: string) => String.raw`(?<![-\w])(?:${pattern})(?![-\w])`;
/** The end of a clause: punctuation, a closing bracket, or the end of the text. */
const clauseEnd = String.raw`(?=\s*(?:[.,;:)\]]|$))`;

/** The terms that the prose check rejects. Each pattern matches only incorrect uses of a term. */
export const terms: Term[] = [
  [word('told'), 'reported, notified, logged'],
  [word('tells'), 'reports, notifies, describes'],
  [word('whoever'), 'the client, the caller, the administrator'],
  [word('nobody'), 'no client, no user, no caller'],
  [word('somebody'), 'a client, a user, a caller'],
  [word('anew'), 'again'],
  [word('meanwhile'), 'in the meantime, concurrently'],
  [word(String.raw`no\s+more`) + clauseEnd, 'no longer'],
  [word(String.raw`(?:is|are|was|were|does|do|can|will)\s+no\s+more`) + String.raw`(?!\s+than)`, 'no longer'],
  [word(String.raw`so\s+many`), 'the number, or the name of the constant'],
  [word(String.raw`(?:stands?|stood)\s+(?:in|at|beside)`), 'is in, is listed in, is defined in'],
  [word(String.raw`(?:is|are|was|were|be|been|being)\s+answered`), 'returns, responds with'],
  [String.raw`,\s+too` + clauseEnd, 'also, as well'],
  [String.raw`(?<!connection )(?<![-\w])refus(?:e|es|ed|ing|als?)(?![-\w])`, 'reject, deny, error'],
  [word(String.raw`comes?\s+of\s+(?:it|them|this|that)`), 'result'],
  [word(String.raw`of\s+before`), 'deprecated, removed, earlier'],
  [word(String.raw`under\s+way\s+at\s+once`), 'concurrent requests'],
  [word('yardsticks?'), 'external check, benchmark'],
  [word(String.raw`may\s+come\s+twice`), 'at least once'],
];
