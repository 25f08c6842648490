/** A term that is right in one file, and why. */
interface Exception {
  file: string;
  term: string;
  reason: string;
}

export const exceptions: Exception[] = [];
