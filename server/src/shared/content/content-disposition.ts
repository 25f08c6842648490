/** Formats the `Content-Disposition` of a file that browsers save instead of opening it (RFC 6266, RFC 8187). */
export function attachmentDisposition(name: string): string {
  // `encodeURIComponent` keeps these characters, but RFC 8187 allows them only as delimiters.
  const encoded = encodeURIComponent(name.toWellFormed()).replace(/['()*]/g, encodeAscii);
  return `attachment; filename="${name.replace(/[^\w.-]/g, '_')}"; filename*=UTF-8''${encoded}`;
}

function encodeAscii(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
