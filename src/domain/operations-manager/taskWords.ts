/** The words under which tasks wait for workers: their application, and their full name. */
export const wordOfApp = (app: string): string => `app ${app}`;
export const wordOfTask = (named: string): string => `task ${named}`;
