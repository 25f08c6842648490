/*
 * Numbers and booleans as spreadsheet programs write them in other languages than English. These programs separate cells
 * by semicolons if the decimal separator is a comma (docs/decisions/data-model.md#csv).
 */

/** The words for true and false in other languages of Europe, in upper case. */
const [trueWords, falseWords] = [
  'WAHR VRAI VERDADERO VERO VERDADEIRO WAAR PRAWDA PRAVDA SANT SAND SANN TOSI IGAZ DOĞRU ADEVĂRAT ИСТИНА ІСТИНА ΑΛΗΘΗΣ',
  'FALSCH FAUX FALSO ONWAAR FAŁSZ NEPRAVDA FALSKT FALSK USANN EPÄTOSI HAMIS YANLIŞ FALS ЛОЖЬ ХИБНІСТЬ ΨΕΥΔΗΣ',
].map((words) => new Set(words.split(' '))) as [Set<string>, Set<string>];

/** The maximum length of a number or a word in UTF-16 code units. Checks of long texts would block the process. */
const maxLength = 40;

/**
 * Converts a number with a decimal comma or a word for a boolean to JSON. Returns any other text unchanged.
 * @param type the type of the value, such as `number`; texts of other types than numbers and booleans stay unchanged
 */
export function localToJson(text: string, type: string): string {
  if (type === 'number') return /^-?\d+,\d+$/.test(text) ? text.replace(',', '.') : text;
  if (type !== 'boolean' || text.length > maxLength) return text;
  const word = text.normalize('NFC').toUpperCase();
  return trueWords.has(word) ? 'true' : falseWords.has(word) ? 'false' : text;
}

/** Returns true if a text is a number with commas, or a word for a boolean in another language than English. */
export function isLocal(text: string): boolean {
  if (text.length > maxLength) return false;
  const isNumber = text.includes(',') && /^[-+]?[\d.,'’\s]*\d$/.test(text);
  return isNumber || localToJson(text, 'boolean') !== text;
}
