/** Formats the `Content-Disposition` of a file that browsers save instead of opening it (RFC 6266, RFC 8187). */
export function attachmentDisposition(name: string): string {
  const encoded = encodeURIComponent(name.toWellFormed()).replace(/['()*]/g, escape);
  return `attachment; filename="${name.replace(/[^\w.-]/g, '_')}"; filename*=UTF-8''${encoded}`;
}
