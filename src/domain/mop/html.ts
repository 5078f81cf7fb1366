const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text as HTML that shows it as it is: nothing in it is markup. */
export const preformatted = (text: string): string =>
  `<pre>${text.replace(/[&<>"']/g, (character) => entities[character] ?? '')}</pre>`;
