const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** HTML that shows the text literally: all markup in it is escaped. */
export const preformatted = (text: string): string =>
  `<pre>${text.replace(/[&<>"']/g, (character) => entities[character] ?? '')}</pre>`;
