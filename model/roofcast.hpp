#pragma once
// Everything a program needs to ask for a forecast.
#include "model/catalog.hpp"
#include "model/predict.hpp"
#include "model/traffic_ladder.hpp"
#include "model/types/gpu.hpp"
#include "model/types/parameter_text.hpp"
#include "model/types/prediction.hpp"
#include "model/types/problem.hpp"
