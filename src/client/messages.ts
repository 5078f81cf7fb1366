/** The message in the body of a refusal. */
export const messageIn = (text: string, status: number): string => {
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown };
    if (typeof message === 'string') return message;
  } catch {
    // Somebody else has answered.
  }
  return `The platform answers with status ${status}`;
};
