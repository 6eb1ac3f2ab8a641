#pragma once
// Everything a program needs to ask for a forecast.
#include "model/catalog.hpp"
#include "model/gpu.hpp"
#include "model/parameter_text.hpp"
#include "model/predict.hpp"
#include "model/prediction.hpp"
#include "model/problem.hpp"
#include "model/traffic_ladder.hpp"
