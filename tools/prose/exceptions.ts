/** An exception for a rejected term that is correct in one file. */
interface Exception {
  file: string;
  term: string;
  reason: string;
}

export const exceptions: Exception[] = [];
