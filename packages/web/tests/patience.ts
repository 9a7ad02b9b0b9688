/** The default of one second is now and then too short for a page to be drawn on a busy machine. */
import { configure } from "@testing-library/react";

configure({ asyncUtilTimeout: 30_000 });
