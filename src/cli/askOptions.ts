import { option, optionOr } from './engine/command.ts';

const urlFault = (text: string): string | undefined =>
  URL.canParse(text.replace('$PORT', '1')) ? undefined : 'It is no URL such as http://127.0.0.1:3000.';

/** The options of a command that asks the running service. */
export const askOptions = {
  url: { ...optionOr('<url>', 'the running service', 'http://127.0.0.1:$PORT'), fault: urlFault },
  tokenFile: option('<file>', 'the file with the token to ask with; without it API_TOKEN, if that is set'),
  user: optionOr('<name>', 'the account to ask with by its password, if there is no token', 'admin'),
};

/** A sentence for the help of a command that asks the running service. */
export const askHelp = 'A password comes from AUTOMATION_PLATFORM_PASSWORD, or is asked for.';
